"""A method of the tests' own, in all its parts: what each of some loads loses."""
