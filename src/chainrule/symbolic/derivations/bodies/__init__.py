"""Derivations of the laws of one rigid body, and of the transport theorem that they rest on."""
