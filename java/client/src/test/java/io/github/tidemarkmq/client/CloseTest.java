package io.github.tidemarkmq.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whoever waits comes back when a client is closed, and names that hang hold up only the calls that need them. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CloseTest {
    private static Deadline soon() {
        return Deadline.after(60, TimeUnit.SECONDS);
    }

    private static Address address(String host) {
        return Address.parse(host + ":7411");
    }

    /** Runs a call in a thread of its own, and gives what it fails with. */
    private static CompletableFuture<Exception> failing(Callable<?> call) {
        CompletableFuture<Exception> failed = new CompletableFuture<>();
        new Thread(() -> {
            try {
                call.call();
                failed.complete(null);
            } catch (Exception e) {
                failed.complete(e);
            }
        }).start();
        return failed;
    }

    private static Code code(CompletableFuture<Exception> failed) throws InterruptedException, ExecutionException {
        return ((TidemarkException) failed.get()).code();
    }

    @Test
    void aSecondCloseDoesNothing() throws TidemarkException {
        TidemarkClient client = TidemarkClient.open(ClientOptions.seeds("127.0.0.1:1").build());
        client.close();
        client.close();
        assertEquals(Code.CLOSED, assertThrows(TidemarkException.class, () -> client.status(soon())).code());
    }

    @Test
    void aHandshakeThatHangsEndsWithTheClient() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 4, InetAddress.getLoopbackAddress())) {
            TidemarkClient client =
                TidemarkClient.open(ClientOptions.seeds("https://127.0.0.1:" + silent.getLocalPort()).build());
            CompletableFuture<Exception> failed = failing(() -> client.status(soon()));
            try (Socket s = silent.accept()) {
                s.getInputStream().read(); // the handshake has begun, and nobody answers it
                client.close();
                assertEquals(Code.CLOSED, code(failed));
            }
        }
    }

    @Test
    void aLookupThatHangsLetsItsCallersGo() throws Exception {
        CountDownLatch looking = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        Resolver resolver = new Resolver(host -> {
            looking.countDown();
            hang(never);
            return new InetAddress[0];
        });
        CompletableFuture<Exception> failed = failing(() -> resolver.resolve(address("slow"), soon()));
        looking.await();
        resolver.close();
        assertEquals(Code.UNREACHABLE, ((Failure) failed.get()).code());
        never.countDown();
    }

    @Test
    void aNameThatHangsLeavesTheOthersAlone() throws Exception {
        InetAddress[] known = {InetAddress.getLoopbackAddress()};
        CountDownLatch never = new CountDownLatch(1);
        try (Resolver resolver = new Resolver(host -> {
            if (host.equals("slow")) {
                hang(never);
            }
            return known;
        })) {
            for (int i = 0; i < 40; i++) {
                assertThrows(Failure.class,
                    () -> resolver.resolve(address("slow"), Deadline.after(1, TimeUnit.MILLISECONDS)));
            }
            assertArrayEquals(known, resolver.resolve(address("good"), soon()));
            never.countDown();
        }
    }

    /** Waits as the JVM's lookup does, which no interrupt ends. */
    private static void hang(CountDownLatch until) {
        while (until.getCount() > 0) {
            try {
                until.await();
            } catch (InterruptedException e) {
                continue;
            }
        }
    }
}
