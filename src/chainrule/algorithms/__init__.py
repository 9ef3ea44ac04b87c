"""One file an algorithm, over generic scalars: imports nothing but the spatial algebra and the model."""
