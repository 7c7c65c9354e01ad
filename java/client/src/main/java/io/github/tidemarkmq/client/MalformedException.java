package io.github.tidemarkmq.client;

import java.io.IOException;

/** What came from the other side is not what it must be; the connection is no longer of use. */
final class MalformedException extends IOException {
    private static final long serialVersionUID = 1;

    MalformedException(String message) {
        super(message);
    }

    /** Its words say where it is wrong; a stack trace would make hostile bytes costly. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
