package io.github.tidemarkmq.broker;

import java.util.Collection;
import java.util.Locale;

/** The name that somebody may have meant. */
final class Nearest {
    private Nearest() {
    }

    /** The one of some names that takes the fewest letters put in, left out or changed; case does not count. */
    static String of(String name, Collection<String> names) {
        String best = null;
        int least = Integer.MAX_VALUE;
        for (String n : names) {
            int d = distance(name.toLowerCase(Locale.ROOT), n.toLowerCase(Locale.ROOT));
            if (d < least) {
                least = d;
                best = n;
            }
        }
        return best;
    }

    /** Levenshtein's. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(change, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
