package main

// Why a call by hand did not succeed: what it is, as the end of a sentence, and what to do next.
var (
	failedNetwork     = failureWords{phrase{"não houve conexão com a plataforma", "there was no connection to the platform"}, phrase{"Confira a rede, o firewall e api.base_url, e tente de novo.", "Check the network, the firewall and api.base_url, and try again."}}
	failedLost        = failureWords{phrase{"a conexão caiu antes da resposta", "the connection was lost before an answer came"}, phrase{"Tente de novo; se continuar, confira a rede e o firewall.", "Try again; if it goes on, check the network and the firewall."}}
	failedCertificate = failureWords{phrase{"o certificado da plataforma não é aceito", "the platform's certificate is not accepted"}, phrase{"Veja api.ca_file e o relógio desta máquina.", "Look at api.ca_file and this host's clock."}}
	failedTimeout     = failureWords{phrase{"a resposta não veio a tempo", "no answer came in time"}, phrase{"Tente de novo mais tarde; o limite é api.timeout.", "Try again later; the limit is api.timeout."}}
	failedCanceled    = failureWords{phrase{"foi interrompido", "it was interrupted"}, phrase{"Repita o comando quando quiser.", "Repeat the command when you like."}}
	failedRedirect    = failureWords{phrase{"a resposta foi um redirecionamento, que não é seguido", "the answer was a redirect, which is not followed"}, phrase{"Confira api.base_url e o que há entre esta máquina e a plataforma (proxy, página de login).", "Check api.base_url and what stands between this host and the platform (proxy, login page)."}}
	failedAnswer      = failureWords{phrase{"a resposta veio cortada, ilegível ou não é da API", "the answer was cut, unreadable, or not the API's"}, phrase{"Tente de novo; se continuar, confira api.base_url e o que há entre esta máquina e a plataforma.", "Try again; if it goes on, check api.base_url and what stands between this host and the platform."}}
	failedRequest     = failureWords{phrase{"o pedido não pôde ser montado", "the request could not be built"}, phrase{"Corrija o que o detalhe técnico aponta.", "Correct what the technical detail names."}}

	failedKey        = failureWords{phrase{"a plataforma recusou a chave", "the platform refused the key"}, phrase{"Renove api.api_key e rode `safrasync check`.", "Renew api.api_key and run `safrasync check`."}}
	failedKeyInside  = failureWords{phrase{"o gateway aceitou a chave, mas um serviço interno a recusou", "the gateway accepted the key, but a service behind it refused it"}, phrase{"Fale com o suporte da plataforma: a chave precisa ser liberada lá.", "Ask the platform's support: the key must be enabled there."}}
	failedModule     = failureWords{phrase{"a cooperativa não contratou este módulo", "the cooperative has not contracted this module"}, phrase{"Fale com a plataforma.", "Ask the platform."}}
	failedValue      = failureWords{phrase{"a plataforma não conhece o valor %s", "the platform does not know the value %s"}, phrase{"Confira os campos de lista fechada, como person_type.", "Check the fields with a list of values, such as person_type."}}
	failedPermission = failureWords{phrase{"a chave não tem permissão para isto", "the key has no permission for this"}, phrase{"Fale com a plataforma.", "Ask the platform."}}
	failedProducer   = failureWords{phrase{"a plataforma não tem produtor com este documento", "the platform has no producer with this document"}, phrase{"Confira o número; se estiver certo, cadastre o produtor na plataforma.", "Check the number; if it is right, register the producer on the platform."}}
	failedNotFound   = failureWords{phrase{"a plataforma não encontrou o registro", "the platform did not find the record"}, phrase{"Confira o que foi informado.", "Check what was given."}}
	failedAddress    = failureWords{phrase{"quem respondeu não conhece este endereço da API", "who answered does not know this address of the API"}, phrase{"Confira api.base_url e o que há entre esta máquina e a plataforma.", "Check api.base_url and what stands between this host and the platform."}}
	failedMalformed  = failureWords{phrase{"a plataforma não entendeu o pedido", "the platform did not understand the request"}, phrase{"Confira os campos; se estiverem certos, avise o suporte do safrasync.", "Check the fields; if they are right, tell safrasync's support."}}
	failedExists     = failureWords{phrase{"a plataforma já tem um registro igual", "the platform has such a record already"}, phrase{"Veja lá o que existe antes de tentar de novo.", "Look there at what exists before trying again."}}
	failedData       = failureWords{phrase{"a plataforma não aceitou os dados", "the platform did not accept the data"}, phrase{"Corrija o campo que as chaves do detalhe técnico indicam.", "Correct the field that the keys of the technical detail name."}}
	failedThrottled  = failureWords{phrase{"a plataforma pede uma pausa", "the platform asks for a pause"}, phrase{"Espere até %s.", "Wait until %s."}}
	failedRefused    = failureWords{phrase{"um serviço por trás da plataforma está fora do ar", "a service behind the platform is down"}, phrase{"Tente de novo mais tarde.", "Try again later."}}
	failedDown       = failureWords{phrase{"a plataforma está indisponível", "the platform is unavailable"}, phrase{"Tente de novo mais tarde.", "Try again later."}}
	failedInside     = failureWords{phrase{"a plataforma falhou por dentro", "the platform failed inside"}, phrase{"Tente de novo mais tarde; se continuar, mande o detalhe técnico ao suporte da plataforma.", "Try again later; if it goes on, send the technical detail to the platform's support."}}
	failedNoID       = failureWords{phrase{"a resposta não traz um id legível", "the answer has no readable id"}, phrase{"Procure o registro na plataforma.", "Look for the record on the platform."}}
	failedOther      = failureWords{phrase{"a resposta não é nenhuma das que a API documenta", "the answer is none that the API documents"}, phrase{"Mande o detalhe técnico ao suporte da plataforma.", "Send the technical detail to the platform's support."}}

	apiDetail = phrase{"  detalhe técnico: %v", "  technical detail: %v"}

	fieldMissing     = phrase{"falta %s", "%s is missing"}
	fieldEntry       = phrase{"%s tem um item vazio", "%s has an empty entry"}
	fieldEncoding    = phrase{"%s não está em UTF-8; confira a codificação do terminal ou do arquivo", "%s is not UTF-8; check the charset of the terminal or the file"}
	fieldNumber      = phrase{"%s não é um número como 1250.5", "%s is not a number such as 1250.5"}
	fieldTooLong     = phrase{"%s é longo demais: a plataforma aceita no máximo %d caracteres", "%s is too long: the platform takes at most %d characters"}
	fieldAddress     = phrase{"%s não é um endereço https; a plataforma não alcança outro", "%s is not an https address; the platform reaches no other"}
	fieldMonths      = phrase{"%s não é um número de meses de 1 a 999", "%s is no number of months from 1 to 999"}
	fieldCompany     = phrase{"%s é de empresa, e --person-type é PF", "%s is of a company, and --person-type is PF"}
	fieldCredentials = phrase{"%s deve ter a forma usuário:senha", "%s must be user:password"}
)
