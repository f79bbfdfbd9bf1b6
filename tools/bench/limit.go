package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// told is the line of JSON that a yardstick prints when it ends: the time that it used, without its
// start.
type told struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"` // seconds, user and system
}

// newClient returns a client with at most this many connections, which never repeats a request.
func newClient(connections int) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections,
			MaxIdleConns: connections, DisableCompression: true,
		},
		Timeout: 2 * time.Minute,
	}
}

// post sends one body and reads the answer to its end.
func post(ctx context.Context, client *http.Client, url string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+deliveriesPath, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", apiKey)
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err == nil && response.StatusCode != http.StatusCreated {
		err = fmt.Errorf("the API answered %s: %s", response.Status, answer)
	}
	return answer, err
}

// runLimit measures the physical limit: prebuilt bodies, POSTed by as many goroutines as there are
// connections.
func runLimit(ctx context.Context, w io.Writer, url string, rows, connections int) error {
	ready := make([][]byte, rows)
	for i := range ready {
		ready[i] = body(i+1, "2026-05-10", "MT-5107602-C4CA4238A0B923820DCC509A6F75849B")
	}
	client := newClient(connections)
	defer client.CloseIdleConnections()
	before, began := cpuOfSelf(), time.Now()
	var next atomic.Int64
	var wait sync.WaitGroup
	errs := make(chan error, connections)
	for range connections {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= rows {
					return
				}
				if _, err := post(ctx, client, url, ready[i]); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wait.Wait()
	close(errs)
	if err := <-errs; err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(told{time.Since(began).Seconds(), cpuOfSelf() - before})
}

// cpuOfSelf returns the CPU time of this process, in seconds.
func cpuOfSelf() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are constants
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
