module github.com/backstay-go/backstay

go 1.26

require (
	github.com/cenkalti/backoff/v4 v4.3.0
	github.com/sony/gobreaker/v2 v2.4.0
	go.yaml.in/yaml/v4 v4.0.0
	golang.org/x/sync v0.20.0
	golang.org/x/time v0.14.0
	google.golang.org/genproto/googleapis/rpc v0.0.0-20251202230838-ff82c1b0f217
	google.golang.org/grpc v1.79.3
	google.golang.org/protobuf v1.36.10
	pgregory.net/rapid v1.2.0
)

require (
	golang.org/x/net v0.48.0 // indirect
	golang.org/x/sys v0.39.0 // indirect
	golang.org/x/text v0.32.0 // indirect
)
