// Nothing: its target holds the precompiled headers of the tests.
