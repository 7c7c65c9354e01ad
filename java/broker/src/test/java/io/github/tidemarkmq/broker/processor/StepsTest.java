package io.github.tidemarkmq.broker.processor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.tidemarkmq.broker.progress.ActFailed;
import org.junit.jupiter.api.Test;

class StepsTest {
    private final ActFailed away = new ActFailed("Not done: no leader.", true, null);

    @Test
    void whatFailsFirstSpeaksForItself() {
        assertSame(away, assertThrows(ActFailed.class, () -> new Steps().run("orders", this::fail)));
    }

    @Test
    void whatFailsLaterTellsWhatIsDone() throws ActFailed {
        Steps steps = new Steps();
        steps.run("orders", () -> { });
        steps.run("%RETRY%billing_orders", () -> { });
        ActFailed e = assertThrows(ActFailed.class, () -> steps.run("%RETRY%audit_orders", this::fail));
        assertEquals("The command is done in part, for orders, %RETRY%billing_orders. Then, for %RETRY%audit_orders:"
            + " Not done: no leader.", e.getMessage());
        assertEquals(true, e.outcomeUnknown());
    }

    private void fail() throws ActFailed {
        throw away;
    }
}
