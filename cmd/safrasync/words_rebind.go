package main

// What `safrasync state rebind` says, and `check` of the platform that a ledger belongs to.
var (
	helpStateRebind = phrase{
		"confirma que a plataforma mudou de endereço, ou que o servidor PostgreSQL do registro local é outro",
		"confirm that the platform's address, or the ledger's PostgreSQL server, has changed",
	}
	rebindNothing = phrase{
		"Nada a confirmar: endereço e servidor são os que o registro local conhece.",
		"There is nothing to confirm: address and server are those that the ledger knows.",
	}
	rebindNowhere  = phrase{"lugar nenhum, que se saiba", "nowhere that is known"}
	rebindPlatform = phrase{
		"O registro local enviou para %s; api.base_url é %s. Confirme somente se é a mesma plataforma em outro endereço: %d linha(s) aceita(s) e %d sem confirmação contam como enviadas a ela, e não vão de novo. Para outra plataforma (teste, depois produção): `safrasync state new`.",
		"The ledger has sent to %s; api.base_url is %s. Confirm only if it is the same platform at another address: %d accepted row(s) and %d in doubt count as sent to it, and do not go again. For another platform (test, then production): `safrasync state new`.",
	}
	rebindServer = phrase{
		"O registro local estava em %s; agora está em %s, com %d linha(s) aceita(s) e %d sem confirmação. Uma réplica promovida com atraso, ou uma cópia restaurada, não tem o que foi enviado por último; só os diários sabem.",
		"The ledger was on %s; now it is on %s, with %d accepted row(s) and %d in doubt. A replica that was promoted while it lagged behind, or a restored copy, lacks what was sent last; only the journals know.",
	}
	rebindJournalOK = phrase{"Diário desta máquina: nada falta no registro local.", "Journal of this host: the ledger lacks nothing of it."}
	rebindJournal   = phrase{
		"Diário desta máquina: %s\n  → resolva isto antes; até lá nada é confirmado.",
		"Journal of this host: %s\n  → settle this first; nothing is confirmed before.",
	}
	rebindHost = phrase{
		"Diário da máquina %s (%s; %d registros até %s): só ela o compara. Rode lá `safrasync check`, e se algo falta `safrasync rebuild`, antes de confirmar.",
		"Journal of the host %s (%s; %d records until %s): only that host can compare it. Run `safrasync check` there, and `safrasync rebuild` if something is missing, before you confirm.",
	}
	rebindDone = phrase{"Feito. A próxima execução envia.", "Done. The next run sends."}

	checkPlatformOK    = phrase{"o registro local pode enviar para %s", "the ledger may send to %s"}
	checkPlatformOther = phrase{
		"o registro local enviou para %s (%d linha(s) aceita(s), %d sem confirmação), e api.base_url é %s: elas nunca chegariam lá, e as entregas levariam ids de contrato da outra",
		"the ledger has sent to %s (%d row(s) accepted, %d in doubt), and api.base_url is %s: they would never get there, and deliveries would carry contract ids of the other",
	}
	checkPlatformHint = phrase{
		"nada é enviado; para outra plataforma ponha em state.dsn um caminho novo e rode `safrasync state new`; para a mesma em outro endereço, `safrasync state rebind --reason TEXTO`",
		"nothing is sent; for another platform set state.dsn to a new path and run `safrasync state new`; for the same at another address, `safrasync state rebind --reason TEXT`",
	}
)
