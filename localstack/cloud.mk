# The local cloud. CLOUD says what it runs in: docker (LocalStack's image; functions are containers), host (LocalStack as a
# Python library; functions are processes of this machine, which must be Linux), or auto: docker where an engine answers.

CLOUD ?= auto

.PHONY: cloud-up cloud-deploy cloud-test cloud-down cloud-check cloud-tools

# The virtual environments, with the checksum of what they are made from in their names, so that a change installs anew.
# Whoever has one of their own names its folder.
checksum = $(shell cksum < $1/requirements.txt | cut -d' ' -f1)
SAM_HERE        := $(TOOLS)/sam-$(call checksum,localstack/sam)
LOCALSTACK_HERE := $(TOOLS)/localstack-$(call checksum,localstack/host)
MOTO_HERE       := $(TOOLS)/moto-$(call checksum,ddb/local/moto)
SAM        := $(or $(INORDER_SAM),$(SAM_HERE))
LOCALSTACK := $(or $(INORDER_LOCALSTACK),$(LOCALSTACK_HERE))
MOTO       := $(or $(INORDER_MOTO),$(MOTO_HERE))

# A Python that both work with, and that can make virtual environments; in Debian that is a package of its own.
PYTHON_FITS = 'import ensurepip, sys, venv; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))'
PYTHON = $(or $(INORDER_PYTHON),$(shell for p in python3.12 python3.11 python3; do \
	$$p -c $(PYTHON_FITS) 2>/dev/null && { command -v $$p; break; }; done))

# Only the machine's own engine can tell what auto is; so it is asked when it matters.
CLOUD_IS = $(if $(filter auto,$(CLOUD)),$(shell docker version >/dev/null 2>&1 && docker compose version >/dev/null 2>&1 && \
	echo docker || echo host),$(CLOUD))

CLOUD_ENVIRONMENT = INORDER_CLOUD=$(CLOUD) INORDER_SAM=$(SAM) INORDER_LOCALSTACK=$(LOCALSTACK) DYNOXIDE=$(ENGINE)

cloud-up: ## start a cloud on this machine to deploy to; CLOUD=auto, docker or host
cloud-up: cloud-tools
	@$(CLOUD_ENVIRONMENT) go run ./localstack up --mode $(CLOUD)

cloud-deploy: ## build template.yaml and deploy it to the cloud of cloud-up; says what to try
cloud-deploy: cloud-tools
	@$(CLOUD_ENVIRONMENT) go run ./localstack deploy --mode $(CLOUD)

cloud-down: ## stop the cloud of cloud-up and forget all that it kept
cloud-down:
	@go run ./localstack down

cloud-test: ## the tests of the template, which deploy it to a cloud of their own
cloud-test: cloud-tools
# The binaries' tests, in rie, need no cloud: `make unit` has them. What else is tested here are other programs than Go's, which
# its cache of results does not see.
	$(CLOUD_ENVIRONMENT) go test -race -count=1 -timeout 40m $$(go list ./localstack/... | grep -v '/rie$$')

# All that is missing is named at once, and before anything is installed.
cloud-check:
	@missing=(); \
	command -v go >/dev/null || missing+=("Go: https://go.dev/doc/install"); \
	"$(PYTHON)" -c $(PYTHON_FITS) 2>/dev/null || missing+=("Python 3.11 or 3.12 with its venv module: apt install python3-venv, brew install python@3.12, \
	or name one: INORDER_PYTHON=/path/to/python3.12"); \
	[ -x "$(ENGINE)" ] || command -v npm >/dev/null || missing+=("npm, which comes with Node.js: https://nodejs.org/en/download, \
	or name a dynoxide $(DYNOXIDE_VERSION): DYNOXIDE=/path/to/dynoxide"); \
	case "$(CLOUD) $(OS)" in \
		"auto "*|"host linux") ;; \
		"docker "*) docker version >/dev/null 2>&1 && docker compose version >/dev/null 2>&1 || \
			missing+=("Docker that runs, with its compose plug-in, for CLOUD=docker: https://docs.docker.com/engine/install/") ;; \
		"host "*) missing+=("Linux, for CLOUD=host: functions are Linux programs. Take CLOUD=docker.") ;; \
		*) missing+=("CLOUD=auto, docker or host: there is no $(CLOUD)") ;; \
	esac; \
	[ "$${#missing[@]}" = 0 ] || { echo "The local cloud needs, and does not find:"; printf '  - %s\n' "$${missing[@]}"; exit 1; } >&2

# With Docker there is no need for LocalStack as a library, nor for dynoxide.
cloud-tools: cloud-check
	@$(MAKE) --silent $(SAM)/bin/sam $(if $(filter host,$(CLOUD_IS)),$(LOCALSTACK)/bin/localstack $(ENGINE))

unit: $(MOTO)/bin/moto_server

# What is not there is skipped, and what is skipped proves nothing. The soak kills processes of this machine, also where Docker is.
proof prove: cloud-tools $(MOTO)/bin/moto_server $(if $(filter linux,$(OS)),$(LOCALSTACK)/bin/localstack)

tools: $(SAM)/bin/sam $(MOTO)/bin/moto_server $(if $(filter linux,$(OS)),$(LOCALSTACK)/bin/localstack)

# venv makes the virtual environment $1 of the requirements in localstack/$2. A half-made one is no virtual environment.
define venv
mkdir -p $(TOOLS); rm -rf $1; trap '[ $$? = 0 ] || rm -rf $1' EXIT; \
"$(or $(PYTHON),$(error this needs Python 3.11 or 3.12 with its venv module: see `make cloud-check`))" -m venv $1; \
$1/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r localstack/$2/requirements.txt; \
ln -sfn $(notdir $1) $(TOOLS)/$3
endef

$(SAM_HERE)/bin/sam:
	@echo "installing the SAM CLI and cfn-lint, once, about a minute"
	@$(call venv,$(SAM_HERE),sam,sam)

$(LOCALSTACK_HERE)/bin/localstack:
	@echo "installing LocalStack, once, one to two minutes"
	@$(call venv,$(LOCALSTACK_HERE),host,localstack)

$(MOTO_HERE)/bin/moto_server:
	@echo "installing moto, a third opinion on the store's tests, once, half a minute"
	@$(call venv,$(MOTO_HERE),../ddb/local/moto,moto)
