generate: ## regenerate the API's code from its .proto files
	cd tools && GOBIN=$(CURDIR)/.cache/bin go install tool
	cd transport/api && PATH=$(CURDIR)/.cache/bin:$$PATH buf generate
