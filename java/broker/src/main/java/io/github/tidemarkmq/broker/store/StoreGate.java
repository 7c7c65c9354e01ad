package io.github.tidemarkmq.broker.store;

import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.broker.BrokerController;

/**
 * The one moment of a start of a broker 5.x at which its message store runs, with all messages in their queues, and no
 * port is open: BrokerController.startBasicService awaits a latch there, if it is given one. In a controller group its
 * replicas are started by then, so the role may be known already.
 */
public final class StoreGate extends CountDownLatch {
    private final Runnable check;

    private StoreGate(Runnable check) {
        super(0);
        this.check = check;
    }

    /** Has check run there, on the thread that starts the broker. To be called before BrokerController.start. */
    public static void before(BrokerController controller, Runnable check) {
        controller.setRemotingServerStartLatch(new StoreGate(check));
    }

    @Override
    public void await() throws InterruptedException {
        check.run();
        super.await();
    }
}
