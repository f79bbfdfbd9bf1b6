package size

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// ReportCost is the cost of a report with all rows.
type ReportCost struct {
	Wall time.Duration
	CPU  time.Duration // of the program, without the databases
	Peak int64         // peak memory in bytes, as the kernel counts it
	Size int64         // bytes of the file
}

// ReportFile writes a file with `safrasync report`, and removes it.
func (w *World) ReportFile(ctx context.Context, format string) (ReportCost, error) {
	file := filepath.Join(w.Dir, "report."+format)
	c, err := w.Run(ctx, "report", "--format", format, "-o", file)
	if err != nil {
		return ReportCost{}, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return ReportCost{}, err
	}
	return ReportCost{c.Wall, c.CPU, c.Peak, info.Size()}, os.Remove(file)
}

var formToken = regexp.MustCompile(`name="token" value="([^"]+)"`)

// Export exports a report from the console, as an accountant does with a button on the page.
func (c *Console) Export(format string) (ReportCost, error) {
	page, _, err := c.Page("/report")
	if err != nil {
		return ReportCost{}, err
	}
	token := formToken.FindStringSubmatch(page)
	if token == nil {
		return ReportCost{}, errors.New("the page of the report has no form")
	}
	pid := c.service.Process.Pid
	if err := forgetPeak(pid); err != nil {
		return ReportCost{}, err
	}
	cpu, began := cpuOf(pid), time.Now()
	answer, err := c.browser.PostForm(c.base+"/report/export",
		url.Values{"token": {token[1]}, "format": {format}, "single": {"1"}, "show": {"1"}})
	if err != nil {
		return ReportCost{}, err
	}
	n, err := io.Copy(io.Discard, answer.Body)
	err = errors.Join(err, answer.Body.Close())
	if err == nil &&
		(answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Disposition") == "") {
		err = fmt.Errorf("the export was not given: %s", answer.Status)
	}
	return ReportCost{time.Since(began), cpuOf(pid) - cpu, peakOf(pid), n}, err
}

// forgetPeak resets the kernel's count of the peak memory of a process.
func forgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}
