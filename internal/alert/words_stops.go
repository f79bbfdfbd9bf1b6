package alert

// endedByPerson are the stops that do not end by themselves.
var endedByPerson = []string{"columns", "empty_sweep", "in_doubt", "malformed", "refusals", "answers", "uneven", "brake_new_rows", "brake_retyped", "brake_changed_key", "brake_new_job", "brake_most", "brake_canary"}

var (
	stopTitle    = phrase{"envio parado em %s: %s", "sending stopped in %s: %s"}
	stopHappened = counted{phrase{"A rotina %s não está enviando: %s.", "Job %s does not send: %s."}, phrase{"As rotinas %s não estão enviando: %s.", "Jobs %s do not send: %s."}}
	stopBrake    = phrase{"%s, quando o normal é %s.", "%s, where %s are usual."}
	stopMeans    = phrase{"Nada se perdeu: o que está no ERP espera.", "Nothing is lost: what is in the ERP waits."}
	stopByItself = phrase{" O envio volta sozinho quando a causa for resolvida.", " Sending goes on by itself when the cause is cured."}
	stopByPerson = phrase{" O envio só volta depois que alguém verificar.", " Sending goes on only after somebody has looked."}
	newRowsCount = counted{phrase{"%s linha nova", "%s new row"}, phrase{"%s linhas novas", "%s new rows"}}
	rowsCount    = counted{phrase{"%s linha", "%s row"}, phrase{"%s linhas", "%s rows"}}
)
