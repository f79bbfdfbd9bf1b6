package maintenance

import (
	"slices"

	"github.com/safrasync/safrasync/internal/config"
)

// settingFacts returns the settings that a fault may come from: numbers, times, schedules, and names
// from closed lists. Of all others only whether there are any.
func settingFacts(c *config.Config) any {
	type facts map[string]any
	jobs := []facts{}
	for _, j := range c.Jobs {
		fields := map[string]facts{}
		for name, f := range j.Fields {
			fields[name] = facts{
				"columns": len(f.Column), "const": f.Const != nil, "default": f.Default != nil,
				"values": f.Values.Name != "" || len(f.Values.Inline) > 0,
				"date":   f.Date, "scale": f.Scale, "empty": len(f.Empty), "ref": f.Ref != "",
				"sent_by": len(f.SentBy), "lookup": f.Lookup != "", "per": f.Per != nil, "in": f.In,
			}
		}
		jobs = append(jobs, facts{
			"job": j.Name, "sends": j.Sends, "schedule": j.Schedule, "sweep": j.Sweep, "lookback": j.Lookback.String(),
			"key": len(j.Key), "own_key_space": j.Identity != "", "changed_at": j.ChangedAt != "",
			"cancelled": j.Cancelled != nil, "invalid": j.Invalid != "", "hours": len(j.Hours), "most": j.Most != nil,
			"canary": j.Canary, "nothing_new": j.NothingNew.String(), "show": len(j.Show), "fields": fields,
		})
	}
	return facts{
		"api": facts{
			"timeout": c.API.Timeout.String(), "max_in_flight": c.API.MaxInFlight, "rate_limit": c.API.RateLimit,
			"doubt": c.API.Doubt, "quarantine": c.API.Quarantine.String(),
			"stop_after_unknown": c.API.StopAfterUnknown, "ca_file": c.API.CAFile != "", "proxy": !c.API.Proxy.IsZero(),
		},
		"erp": facts{
			"driver": c.ERP.Driver, "charset": c.ERP.Charset, "time_zone": c.ERP.TimeZone,
			"statement_timeout": c.ERP.StatementTimeout.String(),
		},
		"state":      facts{"driver": c.State.Driver, "journal": c.State.Journals() != ""},
		"references": len(c.References), "values": len(c.Values), "with": len(c.With),
		"brakes": c.Brakes, "checks": c.Checks, "approve": c.Approve,
		"retention": facts{
			"schedule": c.Retention.Schedule, "bodies": c.Retention.Bodies.String(),
			"audit": c.Retention.Audit.String(),
		},
		"log": c.Log.Level, "language": c.Language,
		"alerts": facts{
			"rejected_above": c.Alerts.RejectedAbove,
			"nothing_new":    c.Alerts.NothingNew.String(), "backup_older": c.Alerts.BackupOlder.String(),
			"email": c.Alerts.Email != nil, "webhook": c.Alerts.Webhook != nil,
			"heartbeat": !c.Alerts.Heartbeat.IsZero(),
		},
		"console": facts{
			"used": c.Console.Listen != "", "tls": c.Console.CertFile != "", "behind": c.Console.Behind != "",
			"idle": c.Console.Idle.String(), "oidc": c.Console.OIDC != nil,
		},
		"metrics": c.Metrics.Listen != "",
		"webhooks": facts{
			"used": c.Webhooks.Used(), "tls": c.Webhooks.CertFile != "", "proxies": len(c.Webhooks.Proxies),
			"events": slices.Sorted(slices.Values(c.Webhooks.Events)),
		},
		"http_api": facts{"used": c.HTTPAPI.Listen != "", "tokens": len(c.HTTPAPI.Tokens)},
		"jobs":     jobs,
	}
}
