package io.github.tidemarkmq.broker.processor;

import io.github.tidemarkmq.broker.progress.ActFailed;
import java.util.ArrayList;
import java.util.List;

/** The acts that one command is made of, one after the other: the error of one names those done before it. */
final class Steps {
    /** An act of {@code progress.Progress}. */
    interface Act {
        void run() throws ActFailed;
    }

    private final List<String> done = new ArrayList<>();

    /**
     * The next one.
     *
     * @param what it is about, for the sentence
     * @throws ActFailed the command ends here
     */
    void run(String what, Act act) throws ActFailed {
        try {
            act.run();
        } catch (ActFailed e) {
            if (done.isEmpty()) {
                throw e;
            }
            throw new ActFailed("The command is done in part, for " + String.join(", ", done) + ". Then, for " + what
                + ": " + e.getMessage(), e.outcomeUnknown(), e);
        }
        done.add(what);
    }
}
