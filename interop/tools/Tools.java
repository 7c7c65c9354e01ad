import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

import org.apache.rocketmq.tools.command.MQAdminStartup;

/** mqadmin, command by command in one process: a line on stdin is its arguments, kept apart by tabs. */
public final class Tools {
    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        run("help"); // whatever the first command says about its logging
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            for (String s : run(line.split("\t", -1)).split("\n")) {
                answers.println(s.equals(".") ? ". " : s);
            }
            answers.println(".");
            answers.flush();
        }
        System.exit(0); // stdin has ended: the test is over
    }

    private static String run(String... args) throws Exception {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream to = new PrintStream(said, true, "UTF-8");
        System.setOut(to);
        System.setErr(to);
        MQAdminStartup.main0(args, null);
        to.flush();
        return said.toString("UTF-8");
    }
}
