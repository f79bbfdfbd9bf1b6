package main

import (
	"cmp"
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/phrase"
)

func newSandboxCommand(a *cli.App) *cobra.Command {
	var opts sandbox.Options
	var listen, world, log, receiverCA string
	var faults, notContracted []string
	cmd := a.Command("sandbox [--listen ADDR] [--api-key KEY] [--world FILE] [--faults SPEC]…",
		"a simulated platform API on this host, with faults on demand", cli.Exactly(0), func(ctx context.Context, _ []string) error {
			var err error
			opts.Faults, err = sandbox.ParseFaults(faults)
			if err != nil {
				return &cli.UsageError{Text: a.Voice().Fault(err)}
			}
			opts.ReceiverRoots, err = config.RootsOf(receiverCA)
			if err != nil {
				return err
			}
			opts.NotContracted, err = sandbox.ParseModules(notContracted)
			if err != nil {
				return &cli.UsageError{Text: "--not-contracted: " + a.Voice().Fault(err)}
			}
			if world != "" {
				opts.World, err = sandbox.LoadWorld(world)
				if err != nil {
					return err
				}
			}
			if log != "" {
				file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				if err != nil {
					return phrase.Errorf("--log: %w", err)
				}
				a.Closers = append(a.Closers, file.Close)
				opts.Log = file
			}
			running, err := sandbox.Start(opts, listen)
			if err != nil {
				return err
			}
			a.Closers = append(a.Closers, running.Close, running.LogErr)
			key := cmp.Or(opts.APIKey, "sandbox")
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
			a.Tell("sandbox stopped: %d {contract|contracts}, %d {delivery|deliveries} and %d traceability rows created, %d {request|requests} received", of(sandbox.ResourceOrderCommitments), of(sandbox.ResourceDeliveries),
				of(sandbox.ResourceTraceability), running.Requests())
			return nil
		})
	cmd.Long = a.Text("help.sandbox_long")
	flags := cmd.Flags()
	flags.StringVar(&listen, "listen", "127.0.0.1:8089",
		"`ADDRESS` to listen on, loopback only; port 0 takes a free one")
	flags.StringVar(&world, "world", "",
		"`FILE` (JSON) with the records that the platform knows; default: it knows every one")
	flags.StringVar(&opts.APIKey, "api-key", "", "the only `KEY` that is accepted; default: any")
	flags.StringArrayVar(&notContracted, "not-contracted", nil,
		"`MODULE` that answers 403: commercial, financial or webhooks; may be repeated")
	flags.StringArrayVar(&faults, "faults", nil,
		"`SPEC` of what goes wrong, such as lost-after@3 or status=503%10; may be repeated, the first that matches acts; @N counts from the start of the sandbox")
	flags.StringVar(&receiverCA, "receiver-ca", "",
		"`FILE` (PEM) with certificates to trust for receivers of events, besides those of the system")
	flags.BoolVar(&opts.ShowTimes, "show-times", false,
		"order commitments show created_at, which the API's document does not tell of")
	flags.DurationVar(&opts.Latency, "latency", 0, "delay `D` before each answer, such as 300ms")
	flags.Int64Var(&opts.Seed, "seed", 0, "`N` decides which requests a fault with % meets; default: drawn, and printed")
	flags.StringVar(&log, "log", "",
		"`FILE` to which each request is appended as a line of JSON, whole bodies included")
	return cmd
}
