//go:build tools

// Package tools names the Go tools of `npm run check:workflows`, so that go.mod has their versions and go.sum their hashes.
package tools

import _ "github.com/rhysd/actionlint/cmd/actionlint"
