package config

import (
	"go.uber.org/zap/zapcore"
)

// LogConfig says how much `safrasync run` writes to standard error, one JSON line for each thing
// that happens.
type LogConfig struct {
	Level string `yaml:"level"` // error, warn, info or debug
}

func (l LogConfig) check(d *Decoder) {
	d.OneOf("log.level", l.Level, "error", "warn", "info", "debug")
}

// ZapLevel is the level as the logger has it.
func (l LogConfig) ZapLevel() zapcore.Level {
	level, err := zapcore.ParseLevel(l.Level)
	if err != nil {
		return zapcore.InfoLevel
	}
	return level
}
