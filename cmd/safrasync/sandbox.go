package main

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/phrase"
)

// sandboxFlags are the flags of `safrasync sandbox`.
type sandboxFlags struct {
	listen, world, apiKey, log, receiverCA string
	faults, notContracted                  []string
	latency                                time.Duration
	times                                  bool
	seed                                   int64
}

func newSandboxCommand(a *cli.App) *cobra.Command {
	var f sandboxFlags
	cmd := a.Command("sandbox [--listen ADDR] [--api-key KEY] [--world FILE] [--faults SPEC]…",
		"a simulated platform API on this host, with faults on demand", cli.Exactly(0), func(ctx context.Context, _ []string) error {
			opts := sandbox.Options{APIKey: f.apiKey, Seed: f.seed, Latency: f.latency, ShowTimes: f.times}
			var err error
			opts.Faults, err = sandbox.ParseFaults(f.faults)
			if err != nil {
				return &cli.UsageError{Text: a.Voice().Fault(err)}
			}
			opts.ReceiverRoots, err = config.RootsOf(f.receiverCA)
			if err != nil {
				return err
			}
			opts.NotContracted, err = sandbox.ParseModules(f.notContracted)
			if err != nil {
				return &cli.UsageError{Text: "--not-contracted: " + a.Voice().Fault(err)}
			}
			if f.world != "" {
				opts.World, err = sandbox.LoadWorld(f.world)
				if err != nil {
					return err
				}
			}
			if f.log != "" {
				file, err := os.OpenFile(f.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				if err != nil {
					return phrase.Errorf("--log: %w", err)
				}
				a.Closers = append(a.Closers, file.Close)
				opts.Log = file
			}
			running, err := sandbox.Start(opts, f.listen)
			if err != nil {
				return err
			}
			a.Closers = append(a.Closers, running.Close, running.LogErr)
			key := cmp.Or(f.apiKey, "sandbox")
			if a.AsJSON {
				if err := a.PrintJSON(struct {
					URL    string `json:"url"`
					Seed   int64  `json:"seed"`
					Key    string `json:"api_key"`
					Report string `json:"report"`
				}{running.URL, running.Seed(), key, running.URL + "/_sandbox/report"}); err != nil {
					return err
				}
			} else {
				a.Show("sandbox at %s (key: %s, seed %d); what happens: %s/_sandbox/report; stop with Ctrl+C", running.URL, key, running.Seed(), running.URL)
			}
			if err := a.Out.Flush(); err != nil {
				return phrase.Errorf("standard output: %w", err)
			}
			<-ctx.Done()
			of := func(resource string) int { return len(running.CreatedOf(resource)) }
			a.Tell("sandbox.ends", of(sandbox.ResourceOrderCommitments), of(sandbox.ResourceDeliveries),
				of(sandbox.ResourceTraceability), running.Requests())
			return nil
		})
	cmd.Long = a.Text("help.sandbox_long")
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8089",
		"`ADDRESS` to listen on, loopback only; port 0 takes a free one")
	flags.StringVar(&f.world, "world", "",
		"`FILE` (JSON) with the records that the platform knows; default: it knows every one")
	flags.StringVar(&f.apiKey, "api-key", "", "the only `KEY` that is accepted; default: any")
	flags.StringArrayVar(&f.notContracted, "not-contracted", nil,
		"`MODULE` that answers 403: commercial, financial or webhooks; may be repeated")
	flags.StringArrayVar(&f.faults, "faults", nil,
		"`SPEC` of what goes wrong, such as lost-after@3 or status=503%10; may be repeated, the first that matches acts; @N counts from the start of the sandbox")
	flags.StringVar(&f.receiverCA, "receiver-ca", "",
		"`FILE` (PEM) with certificates to trust for receivers of events, besides those of the system")
	flags.BoolVar(&f.times, "show-times", false,
		"order commitments show created_at, which the API's document does not tell of")
	flags.DurationVar(&f.latency, "latency", 0, "delay `D` before each answer, such as 300ms")
	flags.Int64Var(&f.seed, "seed", 0, "`N` decides which requests a fault with % meets; default: drawn, and printed")
	flags.StringVar(&f.log, "log", "",
		"`FILE` to which each request is appended as a line of JSON, whole bodies included")
	return cmd
}
