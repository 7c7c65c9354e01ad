// Package client is the library that applications embed.
package client

import "errors"

var errSkeleton = errors.New("not written yet")
