package console

var auditWords = map[string]phrase{
	"audit.title":    {"Auditoria", "Audit"},
	"audit.no":       {"Nº", "No."},
	"audit.from":     {"De onde", "From where"},
	"audit.act":      {"Ato", "Act"},
	"audit.target":   {"Sobre", "On"},
	"audit.detail":   {"Detalhe", "Detail"},
	"audit.hash":     {"Código de integridade", "Hash"},
	"audit.since":    {"Do dia", "From the day"},
	"audit.until":    {"Até o dia", "Until the day"},
	"audit.none":     {"Nenhum ato assim.", "There is no such act."},
	"audit.reduced":  {"não é mais guardado", "no longer kept"},
	"audit.check":    {"Conferir a integridade", "Check that it is whole"},
	"audit.whole":    {"A auditoria está como foi escrita.", "The audit is as it was written."},
	"audit.broken":   {"A auditoria foi alterada: o registro %s falta ou não é o que foi escrito. Avise a TI e compare com um backup.", "The audit was altered: record %s is missing or not what was written. Tell IT, and compare it with a backup."},
	"audit.day":      {"O dia não existe: use o calendário, ou AAAA-MM-DD.", "There is no such day: use the calendar, or YYYY-MM-DD."},
	"audit.exported": {"A própria exportação fica registrada.", "The export itself is recorded."},
}
