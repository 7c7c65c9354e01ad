package io.github.tidemarkmq.client;

import java.util.Locale;

/** One call: what is sent, each time the same except for the node's time, and how its answer is read. */
final class Request<T extends Answer> {
    /** What sending a request again may do. */
    enum Kind {
        /** Nothing is changed, so that no outcome is unknown. */
        READING,
        /** Sending it again does no harm: commits, sets, acts. */
        WRITING
    }

    /** The field of timeout_ms where a request has none. */
    static final int NO_TIMEOUT = 0;
    /** The field of the act header where a request is not an act. */
    private static final int NO_HEADER = 0;

    private final Kind kind;
    private final String method;
    private final Object subject;
    private final ProtoWriter body;
    private final int header;
    private final int timeout;
    private final Messages.Decoder<T> decoder;

    private Request(Kind kind, String method, Object subject, ProtoWriter body, int header, int timeout,
        Messages.Decoder<T> decoder) {
        this.kind = kind;
        this.method = method;
        this.subject = subject;
        this.body = body;
        this.header = header;
        this.timeout = timeout;
        this.decoder = decoder;
    }

    /**
     * A request whose time is a field of its own.
     *
     * @param method Service/Method
     * @param subject what it is about, for messages
     * @param timeout the field of timeout_ms, or {@link #NO_TIMEOUT}
     */
    static <T extends Answer> Request<T> of(Kind kind, String method, Object subject, ProtoWriter body, int timeout,
        Messages.Decoder<T> decoder) {
        return new Request<>(kind, method, subject, body, NO_HEADER, timeout, decoder);
    }

    /** An act, whose time is in its header. */
    static Request<ActAnswer> act(String method, Object subject, ProtoWriter body) {
        return new Request<>(Kind.WRITING, "GroupService/" + method, subject, body, ActMessages.HEADER,
            ActMessages.TIMEOUT, ActMessages::answer);
    }

    Kind kind() {
        return kind;
    }

    String method() {
        return method;
    }

    ProtoWriter body() {
        return body;
    }

    Messages.Decoder<T> decoder() {
        return decoder;
    }

    /** What follows the body: the time that the node is given. A header that comes twice is merged by protobuf. */
    ProtoWriter timeout(long millis) {
        ProtoWriter w = new ProtoWriter(16);
        if (timeout == NO_TIMEOUT) {
            return w;
        }
        if (header == NO_HEADER) {
            return w.number(timeout, millis);
        }
        int m = w.begin(header);
        w.number(timeout, millis);
        w.end(m);
        return w;
    }

    /** For messages: "commit g/t/b/3". */
    @Override
    public String toString() {
        String name = method.substring(method.indexOf('/') + 1).toLowerCase(Locale.ROOT);
        return subject.equals("") ? name : name + " " + subject;
    }
}
