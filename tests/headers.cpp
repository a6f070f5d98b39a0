// Empty: its target has the precompiled headers of the tests.
