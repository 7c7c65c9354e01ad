package io.github.tidemarkmq.broker.version;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ResetRequestTest {
    @Test
    void theBodyHasObjectsAsKeysWhichClientsOfAllAgesRead() {
        Map<Integer, Long> queues = new TreeMap<>();
        queues.put(0, 17L);
        queues.put(3, 9_000_000_000L);
        assertEquals("{\"offsetTable\":{{\"brokerName\":\"b\",\"queueId\":0,\"topic\":\"%RETRY%g\"}:17,"
            + "{\"brokerName\":\"b\",\"queueId\":3,\"topic\":\"%RETRY%g\"}:9000000000}}",
            ResetRequest.body("b", "%RETRY%g", queues));
    }

    @Test
    void namesAreData() {
        Map<Integer, Long> queues = new TreeMap<>();
        queues.put(1, 2L);
        assertEquals("{\"offsetTable\":{{\"brokerName\":\"b\\\"\",\"queueId\":1,\"topic\":\"a\\\\b\"}:2}}",
            ResetRequest.body("b\"", "a\\b", queues));
    }
}
