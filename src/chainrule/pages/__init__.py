"""Pages of one HTML file, in which a robot computes in the browser of whoever reads it: no server, no network.

Scripts and styles lie beside the Python that joins them. They are plain ES modules, without a build step.
"""
