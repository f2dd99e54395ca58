# Two commands do all the set-up. Nothing is assumed but make and Python 3.11 or newer.
#
#   make demo                     install into .venv and open JupyterLab on notebooks/quickstart.ipynb
#   make demo ARGS=--no-browser   only serve it
#   make test                     install what the tests need and run all of them
#   make test ARGS="-k rollback"  run some of them (ARGS goes to pytest)
#   make clean                    remove what the two commands installed here
#
# PYTHON=/path/to/python chooses the interpreter for a new .venv.

CANDIDATES = $(or $(PYTHON),python3 python3.13 python3.12 python3.11 python3.14 python)
FIND_PYTHON = for python in $(CANDIDATES); do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && break; python=; done; \
	if [ -z "$$python" ]; then \
	echo "codemode-jupyter: no Python 3.11 or newer among: $(CANDIDATES)." >&2; \
	echo "Install one (Debian and Ubuntu: apt install python3.12 python3.12-venv; macOS: brew install python@3.12) or say make $@ PYTHON=/path/to/python." >&2; \
	exit 1; fi

.PHONY: help demo test clean

help:
	@sed -n 's/^#   //p' Makefile

demo:
	@$(FIND_PYTHON); exec "$$python" tools/setup.py demo $(ARGS)

test:
	@$(FIND_PYTHON); exec "$$python" tools/setup.py test $(ARGS)

clean:
	rm -rf .venv .venv-* node_modules tests/bench/node_modules tests/screenshots
