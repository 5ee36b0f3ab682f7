"""How long reading takes from a server that is far away; `python -m bench.remote --help`."""
