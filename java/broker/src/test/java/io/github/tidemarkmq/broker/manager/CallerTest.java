package io.github.tidemarkmq.broker.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CallerTest {
    @Test
    void eachCopyIsCollectedOnce() {
        Caller c = Caller.collecting();
        for (String topic : new String[] {"orders", "orders", "bills", null, null}) {
            c.copies().add(new Caller.Copy("a", "b", topic));
        }
        c.copies().add(new Caller.Copy("b", "a", "orders"));
        assertEquals(4, c.copies().size());
    }
}
