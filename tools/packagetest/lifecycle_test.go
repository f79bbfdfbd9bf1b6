package packagetest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
)

// A first installation leaves a user, a configuration that states what to fill in, and nothing
// running.
func TestAFirstInstallationStartsNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []installer{dpkgInstaller(), rpmInstaller()} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			p := newPlant(t)
			out, code := kind.install(p, this(t))
			if code != 0 || !strings.Contains(out,
				"safrasync: installed, not started. /usr/share/doc/safrasync/install.md") {
				t.Fatalf("the installation ended with %d:\n%s", code, out)
			}
			if calls := p.manager.take(); len(calls) > 0 ||
				p.root.exists("/etc/systemd/system/multi-user.target.wants/safrasync.service") {
				t.Errorf("something was started or enabled: %q", calls)
			}
			owners := p.root.must("stat", "-c", "%U:%G %a %n", "/etc/safrasync",
				"/etc/safrasync/config.yaml", "/etc/safrasync/credentials", "/var/lib/safrasync")
			if want := "root:safrasync 750 /etc/safrasync\nroot:safrasync 640 /etc/safrasync/config.yaml\nroot:safrasync 750 /etc/safrasync/credentials\nsafrasync:safrasync 700 /var/lib/safrasync\n"; owners != want {
				t.Errorf("owners and modes are\n%swant\n%s", owners, want)
			}
			out, code = p.safrasync("check", "--offline")
			for _, want := range []string{
				"api.base_url: PREENCHER is still to be filled in",
				"the file credentials/api-key cannot be read: no such file", "erp.driver: PREENCHER",
				"jobs.contracts.query: PREENCHER",
			} {
				if code != 78 || !strings.Contains(out, want) {
					t.Errorf("check ended with %d and does not say %q:\n%s", code, want, out)
				}
			}
			// A start before that fails with an explanation, and is not repeated.
			if p.start() || !slices.Equal(p.codes, []int{78}) || !strings.Contains(p.journal(), "PREENCHER") {
				t.Errorf("the start of a service without a configuration ended with %v:\n%s", p.codes, p.journal())
			}
		})
	}
}

// The service can still read a configuration that root has written again.
func TestInitKeepsTheGroupOfTheConfiguration(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	if out, code := p.dpkg(nil, "-i", p.root.bring(this(t).deb)); code != 0 {
		t.Fatal(out)
	}
	p.configure()
	out, code := p.root.run([]string{"LANG=en_US.UTF-8"}, "safrasync", "--config", "/etc/safrasync/config.yaml",
		"init", "--force",
		"--driver", "postgres", "--dsn", "${file:credentials/erp-dsn}", "--contracts", "contrato")
	if code != 0 {
		t.Fatalf("init ended with %d:\n%s", code, out)
	}
	if owner := p.root.must("stat", "-c", "%U:%G %a", "/etc/safrasync/config.yaml"); owner != "root:safrasync 640\n" {
		t.Errorf("the configuration is %s", owner)
	}
}

// Upgrade of a running service with a migration of the ledger, a refused downgrade, and removal:
// what was sent stays known.
func TestF083UpgradeDowngradeAndRemoval(t *testing.T) {
	t.Parallel()
	for _, kind := range []installer{dpkgInstaller(), rpmInstaller()} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			p := newPlant(t)
			if out, code := kind.install(p, this(t)); code != 0 {
				t.Fatalf("%d:\n%s", code, out)
			}
			p.configure()
			p.add(20)
			if !p.start() {
				t.Fatal("the service does not start")
			}
			p.arrive("the first start")

			// The administrator's configuration survives without a question, although the first
			// configuration of the next release is another one, and so does what was sent; the
			// ledger is copied before the new program changes it.
			out, code := kind.install(p, next(t))
			if code != 0 || !strings.Contains(out,
				"safrasync: copying the ledger to /var/lib/safrasync/before-upgrade-") {
				t.Fatalf("the upgrade ended with %d:\n%s", code, out)
			}
			if calls := p.manager.take(); !slices.Equal(calls, []string{"try-restart safrasync.service"}) {
				t.Errorf("the upgrade asked systemd for %q", calls)
			}
			if p.running() == 0 || !slices.Equal(p.codes, []int{0}) {
				t.Fatalf("after the upgrade the service does not run; exit codes %v", p.codes)
			}
			if diff := cmp.Diff(p.configuration("info"), p.root.read("/etc/safrasync/config.yaml")); diff != "" {
				t.Errorf("the configuration was changed:\n%s", diff)
			}
			p.add(5)
			p.arrive("the upgrade")
			copies, err := filepath.Glob(p.root.path("/var/lib/safrasync/before-upgrade-*.db"))
			if err != nil || len(copies) != 1 {
				t.Errorf("copies of the ledger: %q, %v", copies, err)
			}
			if out, code := p.safrasync("doctor"); code != 0 {
				t.Errorf("doctor ended with %d:\n%s", code, out)
			}

			// An older program could not read this ledger. Nothing changes, and the service keeps
			// running.
			out, code = kind.goBack(p, this(t))
			if code == 0 || !strings.Contains(out, "Nothing was changed") ||
				!strings.Contains(out, "SAFRASYNC_ALLOW_DOWNGRADE=yes") || kind.version(p) != nextVersion+"-1" {
				t.Errorf("the downgrade ended with %d, version %s:\n%s", code, kind.version(p), out)
			}
			p.add(5)
			p.arrive("the downgrade that was refused")

			// The removal stops the service and keeps the ledger, and states why.
			out, code = kind.takeAway(p)
			if code != 0 || p.running() != 0 || p.root.exists("/usr/bin/safrasync") ||
				!p.root.exists("/var/lib/safrasync/state.db") {
				t.Fatalf("the removal ended with %d:\n%s", code, out)
			}
			if kind.name == "rpm" && !strings.Contains(out, "/var/lib/safrasync was kept") {
				t.Errorf("the removal says\n%s", out)
			}
			if !p.root.exists("/etc/safrasync/config.yaml") {
				t.Error("the removal took the configuration away")
			}
			start := map[string]string{"deb": "start", "rpm": "enable --now"}[kind.name]
			if out, code := kind.install(p, next(t)); code != 0 || p.running() != 0 ||
				!strings.Contains(out, "instalado de novo, parado: systemctl "+start+
					" safrasync safrasync-backup.timer") {
				t.Errorf("installed again (%d):\n%s", code, out)
			}
			if kind.name == "rpm" {
				return
			}
			out, code = p.dpkg(nil, "--purge", "safrasync")
			if code != 0 || !strings.Contains(out, "/var/lib/safrasync was kept") || p.root.exists("/etc/safrasync") ||
				!p.root.exists("/var/lib/safrasync/state.db") {
				t.Errorf("the purge ended with %d:\n%s", code, out)
			}

			// The same machine again: the kept ledger is found, and nothing is sent twice.
			if out, code := kind.install(p, next(t)); code != 0 {
				t.Fatalf("%d:\n%s", code, out)
			}
			p.configure()
			p.add(5)
			if !p.start() {
				t.Fatal("the service does not start again")
			}
			p.arrive("the second installation")
			p.stop()
			if out, code := p.dpkg([]string{"SAFRASYNC_PURGE_LEDGER=yes"}, "--purge", "safrasync"); code != 0 ||
				p.root.exists("/var/lib/safrasync") {
				t.Errorf("the purge of everything ended with %d:\n%s", code, out)
			}
		})
	}
}

// A forced installation of the older program leads to a clear refusal by the program itself, and
// not to a damaged ledger (F065). The way back that the package's refusal describes works, without
// a row that is sent twice.
func TestF065TheWayBackToAnOlderProgram(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	for _, b := range []built{this(t), next(t)} {
		if out, code := p.dpkg(nil, "-i", p.root.bring(b.deb)); code != 0 {
			t.Fatalf("%d:\n%s", code, out)
		}
		if b == this(t) {
			p.configure()
		}
		p.add(5)
		if !p.start() {
			t.Fatal("the service does not start")
		}
		p.arrive("a start")
	}
	p.stop()
	if out, code := p.dpkg([]string{"SAFRASYNC_ALLOW_DOWNGRADE=yes"}, "-i", p.root.bring(this(t).deb)); code != 0 {
		t.Fatalf("%d:\n%s", code, out)
	}
	out, code := p.safrasync("check", "--offline")
	if code != 1 || !strings.Contains(out, "this program knows") ||
		!strings.Contains(out, "install the newer program or restore the backup") {
		t.Errorf("check ended with %d:\n%s", code, out)
	}
	copies, err := filepath.Glob(p.root.path("/var/lib/safrasync/before-upgrade-*.db"))
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies of the ledger: %q, %v", copies, err)
	}
	for _, act := range [][]string{{"restore", strings.TrimPrefix(copies[0], p.root.dir)}, {"rebuild"}} {
		if out, code := p.safrasync(append(act, "--reason", "back to the version before", "--yes")...); code != 0 {
			t.Fatalf("%q ended with %d:\n%s", act, code, out)
		}
	}
	p.add(5)
	if !p.start() {
		t.Fatal("the service does not start on the ledger that was restored")
	}
	p.arrive("the way back")
}

// A service that was stopped stays stopped, and a copy that cannot be made stops the upgrade before
// anything has changed.
func TestAnUpgradeThatCannotCopyTheLedgerChangesNothing(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	if out, code := p.dpkg(nil, "-i", p.root.bring(this(t).deb)); code != 0 {
		t.Fatal(out)
	}
	p.configure()
	p.add(1)
	if !p.start() {
		t.Fatal("the service does not start")
	}
	p.arrive("the first start")
	p.stop()
	must.Do(t, os.Rename(p.root.path("/etc/safrasync/credentials/api-key"), p.root.path("/root/api-key")))
	// as after every stop of the service
	must.Do(t, os.RemoveAll(p.root.path("/run/credentials")))
	out, code := p.dpkg(nil, "-i", p.root.bring(next(t).deb))
	if code == 0 || !strings.Contains(out, "the ledger could not be copied") ||
		dpkgInstaller().version(p) != thisVersion+"-1" {
		t.Fatalf("the upgrade ended with %d:\n%s", code, out)
	}
	must.Do(t, os.Rename(p.root.path("/root/api-key"), p.root.path("/etc/safrasync/credentials/api-key")))
	if out, code := p.dpkg(nil, "-i", p.root.bring(next(t).deb)); code != 0 || p.running() != 0 {
		t.Errorf("the upgrade ended with %d, and the service that was off runs as %d:\n%s", code, p.running(), out)
	}
	// A ledger that needs a migration is not a fault: the start migrates it.
	if out, code := p.safrasync("check", "--offline"); code != 0 || !strings.Contains(out, "has an older version") {
		t.Errorf("check ended with %d:\n%s", code, out)
	}
}

// The life of a service under its unit: schedules, an outage, an expired key, reloads, an upgrade,
// kill -9, and the end. Each row is sent once.
func TestTheServiceLivesAsItsUnitSays(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	if out, code := p.dpkg(nil, "-i", p.root.bring(this(t).deb)); code != 0 {
		t.Fatal(out)
	}
	p.configure()
	if out, code := p.safrasync("check"); code != 0 {
		t.Fatalf("check ended with %d:\n%s", code, out)
	}
	p.add(30)
	if out, code := p.safrasync("sync", "--dry-run"); code != 0 {
		t.Fatalf("sync --dry-run ended with %d:\n%s", code, out)
	}
	if records, _ := p.created(); records != 0 {
		t.Fatal("the dry run sent something")
	}
	if !p.start() {
		t.Fatal("the service does not start")
	}
	p.arrive("the start")
	p.add(10)
	p.arrive("the schedule")

	// The platform is unavailable for a while.
	p.api.SetFaults(faults(t, "any:unavailable=1s")...)
	p.add(10)
	p.halt("the outage")
	p.api.SetFaults()
	p.arrive("the outage")

	// The key expires; the new one is put into its file and takes effect with a restart. A reload
	// is not enough, because the service has only the copy that was made at its start.
	p.api.SetAPIKey("the-new-key")
	p.add(10)
	p.halt("the key")
	p.secret("api-key", "the-new-key")
	if !p.reload() || !strings.Contains(p.journal(), "systemctl restart safrasync") {
		t.Errorf("the reload with a new key does not ask for a restart:\n%s", p.journal())
	}
	p.root.must("systemctl", "restart", "safrasync.service")
	p.arrive("the new key")

	// A reload with a wrong configuration fails and changes nothing; one with a correct
	// configuration is adopted.
	p.root.write("/etc/safrasync/config.yaml", p.configuration("info")+"jobz: {}\n", 0o640)
	if p.reload() {
		t.Error("a wrong configuration was reloaded")
	}
	p.add(5)
	p.arrive("the reload that failed")
	p.root.write("/etc/safrasync/config.yaml", p.configuration("debug"), 0o640)
	if !p.reload() {
		t.Errorf("the reload failed")
	}
	p.add(5)
	p.arrive("the reload")

	if out, code := p.dpkg(nil, "-i", p.root.bring(next(t).deb)); code != 0 || p.running() == 0 {
		t.Fatalf("the upgrade ended with %d:\n%s", code, out)
	}
	p.add(5)
	p.arrive("the upgrade")

	// kill -9 in the middle of sending: systemd restarts the service; what was in flight is in
	// doubt, at most api.max_in_flight rows, and nothing is sent twice.
	p.api.SetFaults(faults(t, "slow=300ms")...)
	before, _ := p.created()
	p.add(40)
	waitFor(t, "some rows are on the platform", func() bool { n, _ := p.created(); return n > before+5 })
	pid := p.running()
	must.Do(t, syscall.Kill(pid, syscall.SIGKILL))
	p.wait("it runs again", func() bool { return p.process != nil && p.ready && p.process.Process.Pid != pid })
	waitFor(t, "all is settled", func() bool {
		s := p.states()
		return s["accepted"]+s["in_doubt"] == p.rows
	})
	p.once()
	states := p.states()
	records, _ := p.created()
	if states["in_doubt"] > 8 || records < states["accepted"] || records > p.rows {
		t.Errorf("after kill -9: %v, %d records of %d rows", states, records, p.rows)
	}

	// A stop waits for what is in flight.
	p.add(40)
	waitFor(t, "some more rows are on the platform", func() bool { n, _ := p.created(); return n > records+5 })
	p.stop()
	p.once()
	after := p.states()
	if after["in_doubt"] != states["in_doubt"] || after["sending"] != 0 || p.codes[len(p.codes)-1] != 0 {
		t.Errorf("after the stop: %v, exit codes %v", after, p.codes)
	}
	if p.barks != 0 {
		t.Errorf("the watchdog had to end the service %d times", p.barks)
	}
	for _, secret := range []string{plantKey, "the-new-key", p.dsn} {
		if strings.Contains(p.journal(), secret) {
			t.Error("a secret is in the log")
		}
	}
}

func faults(t *testing.T, specs ...string) []sandbox.Disturbance {
	t.Helper()
	return must.Get(sandbox.ParseFaults(specs))(t)
}
