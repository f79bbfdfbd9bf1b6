package main

// What check says about alerts. The messages themselves are in internal/alert.
var (
	alertKey         = phrase{"CHAVE", "KEY"}
	checkAlertsOK    = phrase{"%v, %d destinatário(s); `safrasync check --alert` envia um teste", "%v, %d recipient(s); `safrasync check --alert` sends a test"}
	checkAlertSent   = phrase{"teste entregue: %s", "test delivered: %s"}
	checkAlertFailed = phrase{"teste não entregue: %s (%v)", "test not delivered: %s (%v)"}
	checkAlertHint   = phrase{"corrija alerts na configuração, ou fale com quem cuida do servidor; depois repita", "correct alerts in the configuration, or talk to who runs the server; then repeat"}
	checkNobody      = phrase{"ninguém é avisado", "nobody is told"}
	checkNobodyHint  = phrase{"ponha email ou webhook em alerts; config.example.yaml mostra como", "put email or webhook under alerts; config.example.yaml shows how"}
)
