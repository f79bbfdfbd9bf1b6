package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

// answerFile is the file in the service's run folder (RuntimeDirectory=) with the answer to the last
// reload. The service replaces it as a whole, so that its modification is its answer.
const answerFile = "reload.json"

// reloadAnswer is what became of a reload.
type reloadAnswer struct {
	PID   int    `json:"pid"` // of the service
	Taken bool   `json:"taken"`
	Text  string `json:"text"` // one or more sentences, in the language of the configuration
	// Restart names the secrets of which the service still has the former copy: the service manager
	// makes that copy when it starts the service.
	Restart []string `json:"restart,omitempty"`
}

// answerPath returns the path of the answer; "" outside of a service with a run folder.
func answerPath(a *cli.App) string {
	folders, _ := a.Env("RUNTIME_DIRECTORY")
	folder, _, _ := strings.Cut(folders, ":")
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, answerFile)
}

// answer stores what became of a reload, for the command that asked for it.
func (d *daemon) answer(answer reloadAnswer) {
	path := answerPath(d.App)
	if path == "" {
		return
	}
	answer.PID = os.Getpid()
	text, err := json.Marshal(answer)
	if err == nil {
		err = errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path))
	}
	if err != nil {
		d.log.Warn("the answer to the reload could not be stored", zap.Error(err))
	}
}

// answerEvery is how often reload looks for the answer; the service needs much longer than this.
const answerEvery = 50 * time.Millisecond

// askReload lets the service read its configuration again, and prints its answer. It returns an
// error with the exit code if the old configuration stays, if a new secret needs a restart, or if
// the service ends without an answer.
func askReload(ctx context.Context, a *cli.App, pid int) error {
	if main, _ := a.Env("MAINPID"); pid == 0 && main != "" {
		pid, _ = strconv.Atoi(main)
	}
	path := answerPath(a)
	if pid <= 1 || path == "" {
		return a.Usage("says.reload")
	}
	before, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := signalTo(pid, syscall.SIGHUP); err != nil {
		return gone(a, pid)
	}
	ticker := time.NewTicker(answerEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		now, err := os.Stat(path)
		if err == nil && (before == nil || !os.SameFile(before, now)) {
			return tellReload(a, path)
		}
		if signalTo(pid, 0) != nil {
			return gone(a, pid)
		}
	}
}

// gone reports that no process of the service answers.
func gone(a *cli.App, pid int) error {
	a.Tell("reload.gone", pid)
	return &cli.ExitError{Code: cli.ExitFailed}
}

// tellReload prints the service's answer. It returns an error with the exit code if the service
// does not work by what stands in the files now.
func tellReload(a *cli.App, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var answer reloadAnswer
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	if a.AsJSON {
		err = a.PrintJSON(answer)
	} else {
		a.Block(answer.Text)
	}
	switch {
	case err != nil:
		return err
	case !answer.Taken:
		return &cli.ExitError{Code: cli.ExitConfig}
	case len(answer.Restart) > 0:
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return nil
}
