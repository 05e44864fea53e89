package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/console"
)

// A console is mounted below any prefix, behind whatever decides who may look;
// scripts read what the page shows.
func Example() {
	page, err := console.New(console.Config{Title: "Shop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = page.Close(context.Background()) }()
	payments, err := middleware.New(middleware.Standard("payments"), middleware.WithObserver(page.Observer()))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := page.AddPipeline("payments", payments); err != nil {
		fmt.Println(err)
		return
	}
	payments.Breaker().ForceOpen()
	_, _ = middleware.Do(context.Background(), payments, func(context.Context) (int, error) { return 0, nil })

	mux := http.NewServeMux()
	mux.Handle("/debug/console/", operators(page))
	answer := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, "/debug/console/state.json", nil)
	request.SetBasicAuth("operator", "secret")
	mux.ServeHTTP(answer, request)

	var state console.State
	if err := json.Unmarshal(answer.Body.Bytes(), &state); err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range state.Rows {
		fmt.Println(row.Name, "is", row.Level+":", row.State.Breaker.State)
	}
	for _, notice := range state.Notices {
		fmt.Println(notice.Kind+":", notice.Reason)
	}
	// Output:
	// payments is down: forced-open
	// call rejected: breaker_open
	// breaker changed: manual
}

// operators lets those through who know the password.
func operators(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if user, password, _ := req.BasicAuth(); user != "operator" || password != "secret" {
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// Everybody who reaches the page may look, and only some may act.
func ExampleWithActions() {
	page, err := console.New(console.Config{}, console.WithActions(func(req *http.Request) bool {
		return req.Header.Get("X-Forwarded-Groups") == "oncall" // set by a proxy that can be trusted
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, group := range []string{"sales", "oncall"} {
		request := httptest.NewRequest(http.MethodGet, "/state.json", nil)
		request.Header.Set("X-Forwarded-Groups", group)
		answer := httptest.NewRecorder()
		page.ServeHTTP(answer, request)
		var state console.State
		if err := json.Unmarshal(answer.Body.Bytes(), &state); err != nil {
			fmt.Println(err)
		}
		fmt.Println(group, "may act:", state.Actions)
	}
	// Output:
	// sales may act: false
	// oncall may act: true
}
