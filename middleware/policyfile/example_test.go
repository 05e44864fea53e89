package policyfile_test

import (
	"fmt"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

func Example() {
	policies, err := policyfile.Parse("policies.yaml", []byte(`
profiles:
  careful:
    retry: {max_attempts: 2, budget: {ratio: 5%}}
targets:
  payments:
    extends: careful
    match: {host: pay.example.com}
    timeout: {after: 800ms}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	target := policies.Match(policyfile.Request{Host: "pay.example.com", Method: "GET", Path: "/v1/charges/7"})
	pipeline, err := middleware.New(*target)
	fmt.Println(target.Name, target.Timeout.After, pipeline != nil, err)
	// Output: payments 800ms true <nil>
}

func ExampleParse_faults() {
	_, err := policyfile.Parse("policies.yaml", []byte(`
targets:
  payments:
    retry: {maxAttempts: 2}
    timeout: {after: 800}
    breaker: {failure_ratio: 40}
`))
	fmt.Println(err)
	// Output:
	// policies.yaml:4:13: targets.payments.retry.maxAttempts: unknown key (did you mean max_attempts?)
	// policies.yaml:5:22: targets.payments.timeout.after: 800 has no unit (did you mean 800ms, or 800s?)
	// policies.yaml:6:30: targets.payments.breaker.failure_ratio: 40 is not allowed (did you mean 40%? must be above 0% and at most 100%, or off)
}
