/** The client of a Tidemark cluster's API, without dependencies. {@code TidemarkClient} is where to begin. */
package io.github.tidemarkmq.client;
