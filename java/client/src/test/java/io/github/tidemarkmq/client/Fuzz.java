package io.github.tidemarkmq.client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Gives damaged inputs to what reads bytes from outside. Inputs that were read are damaged further, so that it gets
 * to where several things have to be wrong at once. It runs for so many rounds, or with {@code -Dfuzz.time=5m} for
 * so long, and a failure prints its input and the seed ({@code -Dseed=}).
 */
public final class Fuzz {
    private static final int KEPT = 500;
    private static final int MAX_BYTES = 16 << 10;
    private static final int[] EDGES =
        {0, 1, 0x7f, 0x80, 0xff, '"', '\\', '{', '}', '[', ']', ':', ',', '-', '9', '\n'};

    private final long seed = Long.getLong("seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final List<byte[]> inputs = new ArrayList<>();
    private final int whole;

    /** What reads an input. It throws what it refuses with, and an AssertionError where what it read is not so. */
    public interface Target {
        void read(byte[] input) throws Exception;
    }

    private Fuzz(List<byte[]> whole) {
        inputs.addAll(whole);
        this.whole = whole.size();
    }

    /** Texts as the bytes that they are sent or written as. */
    public static List<byte[]> texts(String... texts) {
        List<byte[]> list = new ArrayList<>();
        for (String t : texts) {
            list.add(t.getBytes(StandardCharsets.UTF_8));
        }
        return list;
    }

    /**
     * Runs a target.
     *
     * @param whole inputs that have to be read
     * @param rounds how many damaged ones, unless fuzz.time says how long
     * @param refusal what the target throws for what it does not take; all else is a fault
     */
    public static void run(List<byte[]> whole, int rounds, Class<? extends Exception> refusal, Target target) {
        Fuzz f = new Fuzz(whole);
        for (byte[] b : whole) {
            if (!f.taken(b, refusal, target)) {
                throw new AssertionError("refused: " + shown(b));
            }
        }
        long began = System.nanoTime();
        long most = time();
        int taken = 0;
        int n = 0;
        for (; most > 0 ? System.nanoTime() - began < most : n < rounds; n++) {
            byte[] b = f.damaged();
            if (f.taken(b, refusal, target)) {
                taken++;
                f.keep(b);
            }
        }
        if (most > 0) {
            System.out.printf("%s: %d inputs, %d of them read, seed %d%n", name(), n, taken, f.seed);
        }
    }

    /** The test that runs it: the outermost of its class. */
    private static String name() {
        String name = "?";
        for (StackTraceElement e : new Throwable().getStackTrace()) {
            if (e.getClassName().endsWith("FuzzTest")) {
                name = e.getClassName() + "." + e.getMethodName();
            }
        }
        return name;
    }

    /** In nanoseconds; 0 for none. */
    private static long time() {
        String t = System.getProperty("fuzz.time", "");
        return t.isEmpty() ? 0 : Duration.parse("PT" + t.toUpperCase(Locale.ROOT)).toNanos();
    }

    private boolean taken(byte[] b, Class<? extends Exception> refusal, Target target) {
        try {
            target.read(b.clone());
            return true;
        } catch (Exception | AssertionError e) {
            if (refusal.isInstance(e)) {
                return false;
            }
            throw new AssertionError("with -Dseed=" + seed + ", of " + shown(b), e);
        }
    }

    private static String shown(byte[] b) {
        return new String(b, StandardCharsets.ISO_8859_1) + "\n(base64: " + Base64.getEncoder().encodeToString(b) + ")";
    }

    private void keep(byte[] b) {
        if (inputs.size() < KEPT) {
            inputs.add(b);
        } else {
            inputs.set(whole + random.nextInt(KEPT - whole), b);
        }
    }

    private byte[] any() {
        return inputs.get(random.nextInt(random.nextBoolean() ? whole : inputs.size()));
    }

    private byte[] damaged() {
        byte[] b = any().clone();
        for (int n = random.nextInt(4); n >= 0; n--) {
            b = damage(b);
        }
        return b.length > MAX_BYTES ? Arrays.copyOf(b, MAX_BYTES) : b;
    }

    private byte[] damage(byte[] b) {
        int from = random.nextInt(b.length + 1);
        int to = from + random.nextInt(Math.min(b.length - from, 40) + 1);
        switch (random.nextInt(7)) {
            case 0:
                return splice(b, from, from, new byte[] {edge()});
            case 1:
                return splice(b, from, to, new byte[0]);
            case 2:
                return splice(b, from, from, Arrays.copyOfRange(b, from, to)); // twice
            case 3:
                byte[] other = any();
                int at = random.nextInt(other.length + 1);
                return splice(b, from, to,
                    Arrays.copyOfRange(other, at, at + random.nextInt(Math.min(other.length - at, 40) + 1)));
            case 4:
                return random.nextInt(8) == 0 ? Arrays.copyOf(b, from) : b;
            case 5:
                return set(b, from, (byte) random.nextInt(256));
            default:
                return set(b, from, edge());
        }
    }

    private byte edge() {
        return (byte) EDGES[random.nextInt(EDGES.length)];
    }

    private static byte[] set(byte[] b, int at, byte v) {
        if (at < b.length) {
            b[at] = v;
        }
        return b;
    }

    private static byte[] splice(byte[] b, int from, int to, byte[] in) {
        byte[] out = new byte[from + in.length + b.length - to];
        System.arraycopy(b, 0, out, 0, from);
        System.arraycopy(in, 0, out, from, in.length);
        System.arraycopy(b, to, out, from + in.length, b.length - to);
        return out;
    }
}
