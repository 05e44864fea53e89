module github.com/backstay-go/backstay/bench

go 1.26

require (
	github.com/afex/hystrix-go v0.0.0-20180502004556-fa1af6a1f4f5
	github.com/backstay-go/backstay v0.0.0
	github.com/cenkalti/backoff/v4 v4.3.0
	github.com/cep21/circuit/v4 v4.1.0
	github.com/cristalhq/hedgedhttp v0.9.2
	github.com/eapache/go-resiliency v1.7.0
	github.com/failsafe-go/failsafe-go v0.9.8
	github.com/hashicorp/go-retryablehttp v0.7.8
	github.com/slok/goresilience v0.2.0
	github.com/sony/gobreaker/v2 v2.4.0
	golang.org/x/sync v0.20.0
)

require (
	github.com/beorn7/perks v0.0.0-20180321164747-3a771d992973 // indirect
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/golang/protobuf v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/influxdata/tdigest v0.0.1 // indirect
	github.com/matttproud/golang_protobuf_extensions v1.0.1 // indirect
	github.com/prometheus/client_golang v0.9.2 // indirect
	github.com/prometheus/client_model v0.0.0-20180712105110-5c3871d89910 // indirect
	github.com/prometheus/common v0.0.0-20181126121408-4724e9255275 // indirect
	github.com/prometheus/procfs v0.0.0-20181204211112-1dc9a6cbc91a // indirect
	github.com/smartystreets/goconvey v1.8.1 // indirect
	golang.org/x/time v0.14.0 // indirect
)

replace github.com/backstay-go/backstay => ../
