/**
 * What differs between the brokers 4.9.7 and 5.3.3 to 5.5.0, each behind one method. The sources are compiled against
 * 5.5.0, so a class, field or signature that another version has otherwise is reached by reflection; nothing outside of
 * this package does that. {@link io.github.tidemarkmq.broker.version.Release5} must not be loaded in a 4.9.
 */
package io.github.tidemarkmq.broker.version;
