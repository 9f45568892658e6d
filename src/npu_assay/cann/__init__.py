"""Where CANN is, which build it is, and the providers that put it there."""
