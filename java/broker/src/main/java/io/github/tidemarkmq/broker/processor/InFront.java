package io.github.tidemarkmq.broker.processor;

import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** A processor in front of one of the broker's own. */
abstract class InFront implements NettyRequestProcessor {
    /** The broker's own. */
    final NettyRequestProcessor brokers;

    InFront(NettyRequestProcessor brokers) {
        this.brokers = brokers;
    }

    @Override
    public final boolean rejectRequest() {
        return brokers.rejectRequest();
    }

    /** A field of the request's header as text; null if it is not there. */
    static String field(RemotingCommand request, String name) {
        return request.getExtFields() == null ? null : request.getExtFields().get(name);
    }

    /** A numeric field; fallback if it is not there, or no number. */
    static long number(RemotingCommand request, String name, long fallback) {
        String text = field(request, name);
        if (text == null) {
            return fallback;
        }
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            return fallback;
        }
    }
}
