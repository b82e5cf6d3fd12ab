# make demo, make test: each does all of its own set-up on a fresh clone.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INCLUDE = $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("include"))')
GO_SOURCES := $(shell find gojit pybind -name '*.go' -o -name '*.py' -o -name '*.[chs]' -o -name '*.txt' -o -name '*.pgo' -o -name '*.cu') go.mod
STAMP := build/.native

.PHONY: help setup demo test go-test py-test test-gpu clib install-library install wheel clean

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'setuptools>=77' wheel numpy pytest ruff mypy
	touch $@

$(STAMP): $(VENV)/.ready setup.py $(GO_SOURCES)
	$(BIN)/python setup.py --quiet build_ext --inplace
	mkdir -p build && touch $@

setup: $(STAMP) ## make the virtual environment and build the library in place

demo: $(STAMP) ## run models that PyTorch saved
	PYTHONPATH=. $(BIN)/python examples/demo.py

go-test: $(STAMP) ## test the Go packages
	CGO_CFLAGS="-O2 -I$(INCLUDE)" go test ./...

py-test: $(STAMP) ## test the Python package
	$(BIN)/python -m pytest

test: go-test py-test ## run every test

build/gpu.test: $(GO_SOURCES)
	mkdir -p build && CGO_ENABLED=0 go test -c -o $@ ./gojit/internal/gpu

build/cuda.test: $(GO_SOURCES)
	mkdir -p build && CGO_ENABLED=0 go test -c -o $@ ./gojit/cuda

test-gpu: $(STAMP) build/gpu.test build/cuda.test ## run all tests of CUDA devices on a GPU of NVIDIA, which must be there: kernels, tensors, operators, modules, programs, archives
	GOJIT_TEST_GPU=1 build/gpu.test -test.v -test.bench .
	GOJIT_TEST_GPU=1 build/cuda.test -test.v
	GOJIT_TEST_GPU=1 $(BIN)/python -m pytest -v -rs --durations=10 tests/test_cuda.py

PREFIX ?= /usr/local
DESTDIR ?=
CLIB_SOURCES := $(shell find gojit -name '*.go' -o -name VERSION) $(wildcard cabi/*) go.mod

build/lib/libtorchjit.so: $(CLIB_SOURCES)
	mkdir -p build/lib
	CGO_ENABLED=1 go build -trimpath -buildvcs=false -buildmode=c-shared -ldflags='-s -w -extldflags "-Wl,-soname,libtorchjit.so -Wl,--version-script=$(CURDIR)/cabi/exports.map"' -o $@ ./cabi
	rm -f build/lib/libtorchjit.h && cp cabi/torchjit.h build/lib/

build/lib/libtorchjit.a: $(CLIB_SOURCES)
	mkdir -p build/lib
	CGO_ENABLED=1 go build -trimpath -buildvcs=false -buildmode=c-archive -ldflags='-s -w' -o $@ ./cabi
	rm -f build/lib/libtorchjit.h

clib: build/lib/libtorchjit.so build/lib/libtorchjit.a ## build the library for C (build/lib/libtorchjit.so, .a and torchjit.h), without Python

install-library: clib
	install -d $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/include
	install -m 755 build/lib/libtorchjit.so $(DESTDIR)$(PREFIX)/lib/
	install -m 644 build/lib/libtorchjit.a $(DESTDIR)$(PREFIX)/lib/
	install -m 644 cabi/torchjit.h $(DESTDIR)$(PREFIX)/include/

install: install-library ## install the library for C and the command below PREFIX (/usr/local)
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags='-s -w' -o build/gojit ./gojit/cmd/gojit
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 build/gojit $(DESTDIR)$(PREFIX)/bin/

wheel: $(STAMP) ## build a wheel into dist/
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation -w dist .

clean: ## remove what was built
	rm -rf build dist torchjit/_native*.so torchjit/_native*.h
