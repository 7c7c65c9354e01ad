// Package client is the library that applications embed.
package client
