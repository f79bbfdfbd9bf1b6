package config

import (
	"go.uber.org/zap/zapcore"
)

// LogConfig is how much `safrasync run` logs to standard error, one JSON line for each event.
type LogConfig struct {
	Level string `yaml:"level"` // error, warn, info or debug
}

// ZapLevel returns the level in the logger's form.
func (l LogConfig) ZapLevel() zapcore.Level {
	level, err := zapcore.ParseLevel(l.Level)
	if err != nil {
		return zapcore.InfoLevel
	}
	return level
}
