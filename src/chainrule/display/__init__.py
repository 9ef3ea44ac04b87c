"""Rich display in notebooks: what other rooms need to show themselves."""
