package io.github.tidemarkmq.broker.progress;

/** Lines for people, in the broker's own log. Texts are whole sentences, names in them already safe to print. */
public interface Log {
    void info(String line);

    void warn(String line);

    void error(String line, Throwable cause);
}
