// The kinds of the prometheus-operator: `./dev deps --all` takes their definitions out of this module; nothing of
// it is compiled.
module gpuward.dev/tests/operatorcrds

go 1.24.0

require github.com/prometheus-operator/prometheus-operator v0.85.0
