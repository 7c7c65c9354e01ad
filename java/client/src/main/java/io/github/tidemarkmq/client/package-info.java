/** The client of a Tidemark cluster's API, without dependencies: see {@link io.github.tidemarkmq.client.TidemarkClient}. */
package io.github.tidemarkmq.client;
