# make demo   set up everything that is missing, then run the demo (writes demo/report.html)
# make test   set up everything that is missing, then run the tests (target spice needs: apt-get install ngspice)
# GPU users override one variable with what pip should install:  make demo TORCH=torch==2.14.1
PYTHON ?= python3
VENV ?= .venv
TORCH ?= torch==2.13.0
JOBS ?= 2

BIN := $(VENV)/bin
# One stamp per choice of torch, so that a second run installs nothing and another TORCH does.
STAMP := $(VENV)/.installed-$(shell printf '%s' "$(TORCH)" | cksum | cut -d' ' -f1)
# The pins of torch and triton belong together; another TORCH brings the triton it wants.
PINS := $(if $(filter file,$(origin TORCH)),constraints.txt,$(VENV)/constraints.txt)

.PHONY: demo test lint docs readme clean

demo: $(STAMP)
	$(BIN)/oscsim demo

test: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) tests
	# hw_targets last: importing brian2 replaces pytest's doctest collector by one that trips over __init__ files
	$(BIN)/python -m pytest --doctest-modules models oscsim hw_targets

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

docs: $(STAMP)
	$(BIN)/mkdocs build --strict --config-file .mkdocs.yml

readme: $(STAMP)
	$(BIN)/python .ci/readme.py

clean:
	rm -rf $(VENV) demo site build

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Python 3.11 or later is needed, this is " + sys.version.split()[0] + "; name another one: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	grep -vE '^(torch|triton)==' constraints.txt > $(VENV)/constraints.txt
	$(BIN)/python -m pip install --quiet -c $(PINS) $(TORCH)
	# compat: a plain path entry, so that a folder named oscsim above the clone cannot hide the package
	$(BIN)/python -m pip install --quiet -c $(PINS) --config-settings editable_mode=compat -e '.[all]'
	# lava-nc declares Python < 3.11 and numpy < 2 but needs neither (docs/targets/lava.md)
	$(BIN)/python -m pip install --quiet --no-deps --ignore-requires-python lava-nc==0.10.0
	rm -f $(VENV)/.installed-*
	touch $@
