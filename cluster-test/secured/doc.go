// Package secured tries clusters of processes with TLS, tokens and a policy:
// who gets in, what is refused and noted, and that certificates are replaced
// under load.
package secured
