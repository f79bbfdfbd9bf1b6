package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

// consents runs `api consent --file` against a platform of the test's own, and gives exit code and
// messages.
func consents(ctx context.Context, t *testing.T, answer http.HandlerFunc, list []byte, args ...string,
) (dir string, code int, out, messages string) {
	t.Helper()
	platform := httptest.NewServer(answer)
	defer platform.Close()
	p := newProgram(t)
	p.configure("testdata/coop/config.yaml", "$API", platform.URL, "dsn: state.db", "dsn: "+p.path("state.db"))
	p.env["SAFRASYNC_API_KEY"] = "key"
	p.write("list", string(list))
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "$DIR", p.dir)
	}
	code, out, messages = p.ask(ctx, "",
		append([]string{"api", "consent", "--file", p.path("list")}, args...)...)
	return p.dir, code, out, messages
}

func granted(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, `{"status":"CONSENTED","consent_date":"2026-11-21T09:00:00Z"}`)
}

func TestAPauseThatThePlatformWantsIsNotAnAnswerAboutAProducer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	dir, code, _, messages := consents(t.Context(), t, func(w http.ResponseWriter, r *http.Request) {
		if n := asked.Add(1); n > 1 && n < 5 { // the second producer: more often than the client itself tries
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		granted(w, r)
	}, []byte("identity;person_type\n52998224725;PF\n11144477735;PF\n"), "--out", "$DIR/out.csv")
	rows := rowsOf(t, filepath.Join(dir, "out.csv"))
	if code != cli.ExitDone || len(rows) != 3 || rows[2][4] != "done" ||
		!strings.Contains(messages, "pede uma pausa até") {
		t.Errorf("exit code %d, rows %q, messages %s", code, rows, messages)
	}
}

func TestABatchEndsWhereEveryProducerWouldBeRefused(t *testing.T) {
	t.Parallel()
	list := []byte("identity;person_type\n52998224725;PF\n11144477735;PF\n")
	for name, c := range map[string]struct {
		answer string
		status int
		rows   int
	}{
		"401":                 {``, 401, 1},
		"403 of a gateway":    {`{"message":"no"}`, 403, 1},
		"403 module":          {`{"messages":["message.module.not-contracted"]}`, 403, 1},
		"404 of a gateway":    {`<html>`, 404, 1},
		"redirect":            {``, 307, 1},
		"403 unknown value":   {`Unexpected value: PF`, 403, 2},
		"404 of the API":      {`{"messages":["message.consent.not-found"]}`, 404, 2},
		"a page in its place": {`<html>login`, 200, 2},
	} {
		_, _, out, messages := consents(t.Context(), t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.answer)
		}, list, "--json")
		if got := strings.Count(out, "\n"); got != c.rows || strings.Contains(messages, "Parou aqui") != (c.rows == 1) {
			t.Errorf("%s: %d rows, want %d: %s", name, got, c.rows, messages)
		}
	}
}

// People read a sentence in the file, programs the technical detail.
func TestTheReasonInAFileIsInThePersonsLanguage(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"messages":["message.producer.not-found"]}`)
	}
	list := []byte("identity,person_type\n1234567890,PF\nCPF 529.982.247-25,PF\n")
	dir, _, _, _ := consents(t.Context(), t, answer, list, "--out", "$DIR/out.csv")
	rows := rowsOf(t, filepath.Join(dir, "out.csv"))
	if !strings.Contains(strings.Join(rows[1], ";"), "zero à esquerda") ||
		!strings.Contains(strings.Join(rows[2], ";"), "não tem produtor com este documento. Confira") {
		t.Errorf("rows %q", rows)
	}
	if rows[2][1] != "***.982.247-**" {
		t.Errorf("the number is shown as %s", rows[2][1])
	}
	_, _, out, _ := consents(t.Context(), t, answer, list, "--json")
	if !strings.Contains(out, "get consent: refused, status 404 (body: a) message.producer.not-found") {
		t.Errorf("JSON: %s", out)
	}
}

func TestTenThousandProducersEachHaveTheirRowAndTheMemoryStaysFlat(t *testing.T) {
	var before, after runtime.MemStats
	for name, many := range map[string]int{"out.csv": 10_000} {
		var list bytes.Buffer
		list.WriteString("identity;person_type\n")
		for i := range many {
			if i%100 == 0 {
				list.WriteString("123;PF\n")
				continue
			}
			list.WriteString("52998224725;PF\n")
		}
		runtime.GC()
		runtime.ReadMemStats(&before)
		dir, code, _, messages := consents(t.Context(), t, granted, list.Bytes(), "--out", "$DIR/"+name)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if code != cli.ExitDone || !strings.Contains(messages,
			fmt.Sprintf("%d de %d produtores consultados; %d sem resposta útil", many, many, many/100)) {
			t.Fatalf("%s: exit code %d: %.300s", name, code, messages)
		}
		if got := strings.Count(messages, "consentimento: "); got != 10 {
			t.Errorf("%s: progress was shown %d times, want 10", name, got)
		}
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 16<<20 {
			t.Errorf("%s: %d MiB are still held", name, kept>>20)
		}
		if rows := rowsOf(t, filepath.Join(dir, name)); len(rows) != many+1 {
			t.Errorf("%s: %d rows, want %d and the header", name, len(rows), many)
		}
	}
}
